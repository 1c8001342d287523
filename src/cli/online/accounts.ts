import { systemClock } from '../../platform/time/clock.ts'
import type { Account, DebouncedQueueAccount, List } from '../../ui/generated/api-objects.ts'
import type { Command, CommandArguments, Terminal } from '../command.ts'
import { printJson } from '../json.ts'
import { type Client, client, LIST_OPTIONS, NotFound, ONLINE_OPTIONS, parsePage, requireOperand } from './client.ts'
import { relativeTime, requireWord } from './options.ts'
import { type Column, details, printList } from './table.ts'

const STATUSES = ['connecting', 'syncing', 'connected', 'auth_error', 'error', 'paused']
const PROVIDERS = ['gmail', 'microsoft', 'imap']
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
    run: list,
  },
  'accounts show': {
    summary: 'show an account and the state of its sync',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: ['posthorn accounts show acc_01k9zv3h5q8m2n4p6r7s8t9vwx', 'posthorn accounts show ada@acme.example'],
    run: show,
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

async function list(terminal: Terminal, args: CommandArguments): Promise<void> {
  const { options } = args
  const query = {
    ...parsePage(args),
    status: requireWord('status', options.status, STATUSES),
    provider: requireWord('provider', options.provider, PROVIDERS),
    q: options.search,
  }
  const found = await client(args).get<List<'accounts', Account>>('/accounts', query)
  if (options.json !== undefined) return printJson(terminal, found)
  printList(terminal, found.accounts, COLUMNS, {
    pagination: found.pagination,
    noun: 'account',
    command: 'posthorn accounts list',
  })
}

async function show(terminal: Terminal, args: CommandArguments): Promise<void> {
  const named = requireOperand(args, 'accounts show', 'an account', 'posthorn accounts list')
  const api = client(args)
  const account = await findAccount(api, named)
  const sync = await api.get<DebouncedQueueAccount>(`/debounced-queue/accounts/${account.id}`)
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
    async run(terminal, args) {
      const named = requireOperand(args, `accounts ${verb}`, 'an account', 'posthorn accounts list')
      const api = client(args)
      const { id } = await findAccount(api, named)
      const account = await api.post<Account>(`/accounts/${id}/${verb}`)
      if (args.options.json !== undefined) return printJson(terminal, account)
      const isRefused = verb === 'sync' && account.status === 'paused'
      terminal.out(`${account.id}  ${account.email}  ${account.status}`)
      terminal.error(isRefused ? `The account is paused. Run: posthorn accounts resume ${id}` : done)
    },
  }
}

/** The account with this id, `customUserId` or address. Throws when several have it. */
export async function findAccount(api: Client, named: string): Promise<Account> {
  try {
    return await api.get<Account>(`/accounts/${encodeURIComponent(named)}`)
  } catch (error) {
    if (!(error instanceof NotFound) || !named.includes('@')) throw error
    const found = await api.get<List<'accounts', Account>>('/accounts', { q: named })
    const accounts = found.accounts.filter(({ email }) => email.toLowerCase() === named.toLowerCase())
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
