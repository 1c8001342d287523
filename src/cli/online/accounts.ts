import type { Account, Posthorn } from '@posthorn/sdk'
import { systemClock } from '../../platform/time/clock.ts'
import type { Command, CommandArguments, Terminal } from '../command.ts'
import { printJson } from '../json.ts'
import { LIST_OPTIONS, ONLINE_OPTIONS, type Open, online, parsePage, requireOperand } from './client.ts'
import { parseWord, relativeTime } from './options.ts'
import { type Column, details, printList } from './table.ts'

const STATUSES = ['connecting', 'syncing', 'connected', 'auth_error', 'error', 'paused'] as const
const PROVIDERS = ['gmail', 'microsoft', 'imap'] as const
const OPERAND = '<account>'

export const accountCommands: Readonly<Record<string, Command>> = {
  'accounts list': {
    summary: 'list the connected accounts, newest first',
    options: {
      status: { value: 'STATUS', about: `only accounts in this state: ${STATUSES.join(', ')}` },
      provider: { value: 'NAME', about: `only accounts of this provider: ${PROVIDERS.join(', ')}` },
      search: { value: 'TEXT', about: 'only accounts with this part of an address or customer user id' },
      ...LIST_OPTIONS,
      ...ONLINE_OPTIONS,
    },
    examples: ['posthorn accounts list', 'posthorn accounts list --status auth_error --json | jq -r .accounts[].id'],
    run: online(list),
  },
  'accounts show': {
    summary: 'show an account and the state of its sync',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: ['posthorn accounts show acc_01k9zv3h5q8m2n4p6r7s8t9vwx', 'posthorn accounts show ada@acme.example'],
    run: online(show),
  },
  'accounts sync': changing('sync', 'sync an account now', 'A sync was requested.'),
  'accounts pause': changing('pause', 'stop syncing an account until it is resumed', 'The account is paused.'),
  'accounts resume': changing('resume', 'sync a paused account again', 'The account is resumed.'),
}

const COLUMNS: readonly Column<Account>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'EMAIL', value: ({ email }) => email, shrinks: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'LAST SYNC', value: ({ lastSyncAt }) => relativeTime(lastSyncAt, systemClock.now()) },
  { title: 'PROVIDER', value: ({ provider }) => provider, optional: true },
  { title: 'CUSTOMER USER ID', value: ({ customUserId }) => customUserId, shrinks: true, optional: true },
  { title: 'REASON', value: ({ statusReason }) => statusReason, shrinks: true, optional: true },
]

async function list(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const { options } = args
  const query = {
    ...parsePage(args),
    status: parseWord('status', options.status, STATUSES),
    provider: parseWord('provider', options.provider, PROVIDERS),
    q: options.search,
  }
  const posthorn = await open()
  const page = await posthorn.accounts.list(query)
  if (options.json !== undefined) return printJson(terminal, page.response)
  printList(terminal, page, COLUMNS, { noun: 'account', command: 'posthorn accounts list' })
}

async function show(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const named = requireOperand(args, 'accounts show', 'an account', 'posthorn accounts list')
  const posthorn = await open()
  const account = await findAccount(posthorn, named)
  const sync = await posthorn.debouncedQueue.getAccount(account.id)
  if (args.options.json !== undefined) return printJson(terminal, { ...account, sync })
  const at = (time: string | null) =>
    `${time ?? ''}${time === null ? '' : '  '}${relativeTime(time, systemClock.now())}`
  const lines = details({
    Account: account.id,
    Email: account.email,
    Provider: account.provider,
    Status: account.status,
    Reason: account.statusReason,
    'Customer user id': account.customUserId,
    Connection: account.watch ? 'kept open' : 'only for polls',
    'Connected at': account.createdAt,
    'Last sync': at(account.lastSyncAt),
    'Last run': at(sync.lastRunAt),
    'Next run': sync.nextRunAt === null ? 'none planned' : at(sync.nextRunAt),
    'Failed runs': sync.attempts === 0 ? null : `${sync.attempts} in a row`,
    'Last error': sync.lastError,
  })
  for (const line of lines) terminal.out(line)
}

function changing(verb: 'sync' | 'pause' | 'resume', summary: string, done: string): Command {
  return {
    summary,
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [
      `posthorn accounts ${verb} acc_01k9zv3h5q8m2n4p6r7s8t9vwx`,
      `posthorn accounts ${verb} ada@acme.example`,
    ],
    run: online(async (terminal, args, open) => {
      const named = requireOperand(args, `accounts ${verb}`, 'an account', 'posthorn accounts list')
      const posthorn = await open()
      const { id } = await findAccount(posthorn, named)
      const account = await posthorn.accounts[verb](id)
      if (args.options.json !== undefined) return printJson(terminal, account)
      const isRefused = verb === 'sync' && account.status === 'paused'
      terminal.out(`${account.id}  ${account.email}  ${account.status}`)
      terminal.error(isRefused ? `The account is paused. Run: posthorn accounts resume ${id}` : done)
    }),
  }
}

/** The account with this id, `customUserId` or address. Throws when several have it. */
export async function findAccount(posthorn: Posthorn, named: string): Promise<Account> {
  try {
    return await posthorn.accounts.get(named)
  } catch (error) {
    const { NotFoundError } = await import('@posthorn/sdk')
    if (!(error instanceof NotFoundError) || !named.includes('@')) throw error
    const { items } = await posthorn.accounts.list({ q: named })
    const accounts = items.filter(({ email }) => email.toLowerCase() === named.toLowerCase())
    const [account, ...others] = accounts
    if (account === undefined) throw new Error(`No account has the address ${named}. List them: posthorn accounts list`)
    if (others.length > 0) {
      throw new Error(
        `Several accounts have this address. Pass the id of one: ${accounts.map(({ id }) => id).join(', ')}`,
      )
    }
    return account
  }
}
