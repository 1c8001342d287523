import type { Posthorn } from '@posthorn/sdk'
import { concurrencyLimit } from '../../../platform/concurrency/limit.ts'
import { type Command, type CommandArguments, type Terminal, UsageError } from '../../command.ts'
import { progress } from '../../progress.ts'
import { untilSignal } from '../../until-signal.ts'
import { ONLINE_OPTIONS, type Open, online } from '../client.ts'
import { isEmailEngineLogLine, readEmailEngineAccount } from './emailengine.ts'
import type { Fields } from './fields.ts'
import type { ReadAccount } from './foreign-account.ts'
import { linkAccount } from './link-account.ts'
import { readNylasGrant } from './nylas.ts'
import { type PlannedAccount, planImport, readServiceState } from './plan.ts'
import { readRecords } from './read-records.ts'
import { type ImportedAccount, printReport, withStatus } from './report.ts'

interface Source {
  name: string
  read: ReadAccount
  /** Members that hold the records of a page. */
  listMembers: readonly string[]
  /** Objects in the file that are no records. */
  isNoise?(record: Fields): boolean
}

const NYLAS: Source = { name: 'Nylas', read: readNylasGrant, listMembers: ['data'] }
const EMAIL_ENGINE: Source = {
  name: 'EmailEngine',
  read: readEmailEngineAccount,
  listMembers: ['accounts'],
  isNoise: isEmailEngineLogLine,
}

/** Each sign-in is checked at its mail server, and the service checks few at once. */
const AT_ONCE = 4

const OPTIONS = {
  'dry-run': { about: 'show what would happen to each account, and change nothing' },
  'other-addresses': { about: 'also import a token whose user has another address than the record, such as an alias' },
  ...ONLINE_OPTIONS,
  json: { about: 'print the result of each account as JSON' },
}

/** Takes accounts of other services, with their credentials, into a running service. May be run again: it skips what exists. */
export const importCommands: Readonly<Record<string, Command>> = {
  'import nylas': {
    summary: 'connect the mailboxes of Nylas grants, with your refresh tokens and IMAP settings',
    operand: '<file>',
    options: OPTIONS,
    examples: ['posthorn import nylas grants.json --dry-run', 'posthorn import nylas grants.json'],
    run: online((terminal, args, open) => runImport(terminal, args, open, NYLAS)),
  },
  'import emailengine': {
    summary: 'connect the mailboxes of EmailEngine, as emailengine export prints them',
    operand: '<file>',
    options: OPTIONS,
    examples: [
      'posthorn import emailengine accounts.jsonl --dry-run --json',
      'posthorn import emailengine accounts.jsonl',
    ],
    run: online((terminal, args, open) => runImport(terminal, args, open, EMAIL_ENGINE)),
  },
}

async function runImport(terminal: Terminal, args: CommandArguments, open: Open, source: Source): Promise<void> {
  const { operands, options } = args
  const [file] = operands
  if (file === undefined) throw new UsageError(`import needs the file with the accounts of ${source.name}, or -.`)
  const otherAddresses = options['other-addresses'] !== undefined
  const isDryRun = options['dry-run'] !== undefined
  const posthorn = await open()
  const found = await readRecords(file, source.listMembers)
  const records = found.filter((record) => record === undefined || source.isNoise?.(record) !== true)
  const planned = planImport(records, source.read, await readServiceState(posthorn), { otherAddresses })
  const done = isDryRun
    ? { results: planned.map((account) => withStatus(account)), stopped: undefined }
    : await importAll(terminal, posthorn, planned, otherAddresses)
  printReport(terminal, done.results, { isDryRun, isJson: options.json !== undefined })
  if (done.stopped !== undefined) throw done.stopped
  const failed = done.results.filter(({ status }) => status === 'failed' || status === 'will_fail').length
  if (failed > 0) {
    throw new Error(`${failed} of ${done.results.length} accounts ${isDryRun ? 'would fail' : 'failed'}.`)
  }
}

/** Imports the accounts that can be. Stops when the service cannot be reached, and returns what is done by then. */
async function importAll(
  terminal: Terminal,
  posthorn: Posthorn,
  planned: readonly PlannedAccount[],
  otherAddresses: boolean,
): Promise<{ results: ImportedAccount[]; stopped: unknown }> {
  const shown = progress(terminal)
  const limit = concurrencyLimit(AT_ONCE)
  const results = new Map<PlannedAccount, ImportedAccount>()
  let stopped: unknown
  await untilSignal(async (signal) => {
    const importOne = async (account: PlannedAccount) => {
      if (stopped !== undefined) return
      const { verdict, existing } = account
      const isNew = existing === undefined || existing.status === 'auth_error'
      if (isNew && verdict.kind === 'ready') {
        results.set(account, withStatus(account, await linkAccount(posthorn, bodyOf(verdict, otherAddresses), signal)))
      } else {
        const isFailed = isNew && verdict.kind === 'invalid'
        results.set(account, withStatus(account, isFailed ? { status: 'failed', reason: verdict.reason } : undefined))
      }
      shown.update(`${results.size} of ${planned.length} accounts`)
    }
    const imports = planned.map((account) =>
      limit(() => importOne(account)).catch((error: unknown) => {
        stopped ??= error
      }),
    )
    await Promise.all(imports)
  }).finally(shown.end)
  return { results: planned.flatMap((account) => results.get(account) ?? []), stopped }
}

function bodyOf({ body }: Extract<PlannedAccount['verdict'], { kind: 'ready' }>, otherAddresses: boolean) {
  // The login at a mail server names the mailbox, and the server decides whether the token is for it.
  return otherAddresses && 'refreshToken' in body && !('oauthProvider' in body) ? { ...body, email: null } : body
}
