import type { Account, Posthorn } from '@posthorn/sdk'
import type { Fields } from './fields.ts'
import { type ForeignAccount, invalid, needsConsent, type ReadAccount, type SignIns } from './foreign-account.ts'
import type { FoundRecord } from './read-records.ts'

/** What the service has and accepts, read once before the import. */
interface ServiceState extends SignIns {
  accounts: readonly Account[]
}

export interface PlannedAccount extends ForeignAccount {
  /** Of its first record in the file, from 1. */
  record: number
  /** The account that exists already. One in `auth_error` is imported again. */
  existing: Account | undefined
}

const PAGE = 200
const SETTINGS = { gmail: 'GOOGLE_CLIENT_ID', microsoft: 'MICROSOFT_CLIENT_ID' } as const
/** Without names in OAUTH_PROVIDERS. */
const PROVIDERS = ['gmail', 'microsoft', 'imap']
const EMPTY: ForeignAccount = { id: null, email: null, provider: null, verdict: invalid('no JSON object') }

export async function readServiceState(posthorn: Posthorn): Promise<ServiceState> {
  const { PermissionError } = await import('@posthorn/sdk')
  const accounts: Account[] = []
  for await (const account of posthorn.accounts.list({ limit: PAGE })) accounts.push(account)
  // Only a key with the scope admin may read them. Without them, the provider itself refuses a foreign token.
  const unlessForbidden = (error: unknown) => {
    if (error instanceof PermissionError) return undefined
    throw error
  }
  const listed = await posthorn.settings.list().catch(unlessForbidden)
  const health = await posthorn.health.getDetailed().catch(unlessForbidden)
  const find = (variable: string) => listed?.settings.find((setting) => setting.variable === variable)?.value ?? null
  return {
    accounts,
    clients: listed && { gmail: find(SETTINGS.gmail), microsoft: find(SETTINGS.microsoft) },
    oauthProviders:
      health && new Set(health.data.providers.flatMap(({ name }) => (PROVIDERS.includes(name) ? [] : name))),
  }
}

/**
 * What will happen to each account. Records with the same id are one account: a later one adds its members, so that tokens may follow
 * the accounts they belong to.
 */
export function planImport(
  records: readonly FoundRecord[],
  read: ReadAccount,
  { accounts, ...signIns }: ServiceState,
  { otherAddresses }: { otherAddresses: boolean },
): PlannedAccount[] {
  const isSame = (account: ForeignAccount, other: Account) =>
    other.email.toLowerCase() === account.email?.toLowerCase() ||
    (account.id !== null && (otherAddresses || account.email === null))
  const byUser = new Map<string, Account[]>()
  for (const account of accounts) {
    const key = JSON.stringify([account.provider, account.customUserId])
    const others = byUser.get(key)
    if (others === undefined) byUser.set(key, [account])
    else others.push(account)
  }
  return mergeRecords(records).map(({ record, position }) => {
    const account = record === undefined ? EMPTY : read(record, signIns)
    const candidates = byUser.get(JSON.stringify([account.provider, account.id])) ?? []
    const existing = candidates.find((other) => isSame(account, other))
    return { ...limitId(checkClient(account, signIns.clients)), record: position, existing }
  })
}

function mergeRecords(records: readonly FoundRecord[]): { record: FoundRecord; position: number }[] {
  const merged = new Map<unknown, { record: FoundRecord; position: number }>()
  for (const [index, record] of records.entries()) {
    const id = record?.id ?? record?.grant_id ?? record?.account
    const hasId = (typeof id === 'string' && id !== '') || typeof id === 'number'
    const key = hasId ? String(id) : Symbol('without id')
    const first = merged.get(key)
    if (first === undefined) merged.set(key, { record, position: index + 1 })
    else first.record = { ...first.record, ...record } satisfies Fields
  }
  return [...merged.values()]
}

/** A refresh token works for the OAuth client only that it was issued to. */
function checkClient(account: ForeignAccount, clients: ServiceState['clients']): ForeignAccount {
  const { provider, verdict } = account
  if (clients === undefined || verdict.kind !== 'ready' || provider === null || provider === 'imap') return account
  const ours = clients[provider]
  if (ours === null) {
    const reason = `the service has no OAuth client for ${provider}: set ${SETTINGS[provider]} and its secret`
    return { ...account, verdict: invalid(reason) }
  }
  if (verdict.clientId === undefined || verdict.clientId === ours) return account
  const reason = `the token was issued to another OAuth client than that of ${SETTINGS[provider]}`
  return { ...account, verdict: needsConsent(reason) }
}

const MAX_ID_LENGTH = 256

function limitId(account: ForeignAccount): ForeignAccount {
  if ((account.id?.length ?? 0) <= MAX_ID_LENGTH) return account
  return { ...account, id: null, verdict: invalid(`its id is longer than ${MAX_ID_LENGTH} characters`) }
}
