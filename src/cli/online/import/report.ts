import type { Terminal } from '../../command.ts'
import { printJson } from '../../json.ts'
import { type Column, table } from '../table.ts'
import type { LinkResult } from './link-account.ts'
import type { PlannedAccount } from './plan.ts'

/** In the order of the summary. */
const SUMMARIES = {
  imported: 'imported',
  will_import: 'to import',
  already_connected: 'connected already',
  needs_consent: 'need a new sign-in of the user',
  unsupported: 'not supported',
  failed: 'failed',
  will_fail: 'would fail',
} as const

type ImportStatus = keyof typeof SUMMARIES

/** What happened, or would happen, to an account. Holds no secrets. */
export interface ImportedAccount {
  /** Of its first record in the file, from 1. */
  record: number
  id: string | null
  email: string | null
  provider: 'gmail' | 'microsoft' | 'imap' | null
  status: ImportStatus
  reason: string | null
  accountId: string | null
  /** With `needs_consent`: the body of `POST /auth/sessions` for its user. */
  session: { provider?: string; email?: string; customUserId?: string } | null
}

/** The status of an account, from the result of its import, or from its plan when it was not tried. */
export function withStatus(account: PlannedAccount, result?: LinkResult): ImportedAccount {
  const { record, id, email, provider, existing } = account
  const found = result ?? plannedResult(account)
  const { status } = found
  const session = {
    ...(provider !== null && { provider }),
    ...(email !== null && { email }),
    ...(id !== null && { customUserId: id }),
  }
  return {
    record,
    id,
    email,
    provider,
    status,
    reason: 'reason' in found ? found.reason : null,
    accountId: 'accountId' in found ? found.accountId : (existing?.id ?? null),
    session: status === 'needs_consent' ? session : null,
  }
}

function plannedResult({ verdict, existing }: PlannedAccount): { status: ImportStatus; reason: string | null } {
  const isRefused = existing?.status === 'auth_error'
  if (existing !== undefined && !(isRefused && verdict.kind === 'ready')) {
    return { status: 'already_connected', reason: isRefused ? 'its credentials are refused' : null }
  }
  switch (verdict.kind) {
    case 'ready':
      return { status: 'will_import', reason: isRefused ? 'replaces refused credentials' : null }
    case 'invalid':
      return { status: 'will_fail', reason: verdict.reason }
    default:
      return { status: verdict.kind, reason: verdict.reason }
  }
}

const COLUMNS: readonly Column<ImportedAccount>[] = [
  { title: 'THEIR ID', value: ({ id, record }) => id ?? `record ${record}` },
  { title: 'EMAIL', value: ({ email }) => email, shrinks: true },
  { title: 'PROVIDER', value: ({ provider }) => provider, optional: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'REASON', value: ({ reason }) => reason, shrinks: true, optional: true },
]

/** Prints one row per account, and on stderr how many there are of each kind. */
export function printReport(
  terminal: Terminal,
  accounts: readonly ImportedAccount[],
  { isDryRun, isJson }: { isDryRun: boolean; isJson: boolean },
): void {
  const counts = Object.fromEntries(
    Object.keys(SUMMARIES).map((name) => [name, accounts.filter(({ status }) => status === name).length]),
  )
  if (isJson) {
    printJson(terminal, { dryRun: isDryRun, counts, accounts })
    return
  }
  if (accounts.length > 0) for (const line of table(accounts, COLUMNS, terminal.width)) terminal.out(line)
  const parts = Object.entries(SUMMARIES).flatMap(([name, text]) => (counts[name] ? [`${counts[name]} ${text}`] : []))
  terminal.error(`${isDryRun ? 'Nothing was changed. ' : ''}${parts.join(', ')}.`)
}
