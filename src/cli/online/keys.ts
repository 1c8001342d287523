import type { ApiKey } from '@posthorn/sdk'
import { systemClock } from '../../platform/time/clock.ts'
import { isoTime, parseTime } from '../../platform/time/time.ts'
import { type Command, type CommandArguments, type Terminal, UsageError } from '../command.ts'
import { printJson } from '../json.ts'
import { LIST_OPTIONS, ONLINE_OPTIONS, type Open, online, parsePage, requireOperand } from './client.ts'
import { relativeTime, requireWord } from './options.ts'
import { type Column, printList } from './table.ts'

const SCOPES = ['read', 'write', 'admin'] as const

export const keyCommands: Readonly<Record<string, Command>> = {
  'keys list': {
    summary: 'list the API keys, without the keys themselves',
    options: { ...LIST_OPTIONS, ...ONLINE_OPTIONS },
    examples: ['posthorn keys list'],
    run: online(list),
  },
  'keys create': {
    summary: 'create an API key and print it, once',
    options: {
      name: { value: 'TEXT', about: 'says which program uses the key' },
      scopes: { value: 'LIST', about: `what it may do: ${SCOPES.join(', ')}; default read` },
      expires: { value: 'TIME', about: 'a date, a time, or a number of days such as 90d; default never' },
      ...ONLINE_OPTIONS,
    },
    examples: [
      'posthorn keys create --name dashboard',
      'posthorn keys create --name deploy --scopes read,write --expires 90d',
    ],
    run: online(create),
  },
  'keys revoke': {
    summary: 'revoke an API key at once',
    operand: '<key id>',
    options: ONLINE_OPTIONS,
    examples: ['posthorn keys revoke key_01jd8e4v5t6y7n8m9p0q1r2s3t'],
    run: online(revoke),
  },
}

const COLUMNS: readonly Column<ApiKey>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, shrinks: true },
  { title: 'SCOPES', value: ({ scopes }) => scopes.join(',') },
  { title: 'KEY', value: ({ hint }) => `\u2026${hint}` },
  { title: 'LAST USED', value: ({ lastUsedAt }) => relativeTime(lastUsedAt, systemClock.now()) },
  {
    title: 'EXPIRES',
    value: ({ expiresAt }) => (expiresAt === null ? 'never' : relativeTime(expiresAt, systemClock.now())),
    optional: true,
  },
  { title: 'CREATED BY', value: ({ createdBy }) => createdBy, shrinks: true, optional: true },
]

async function list(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const query = parsePage(args)
  const posthorn = await open()
  const page = await posthorn.apiKeys.list(query)
  if (args.options.json !== undefined) return printJson(terminal, page.response)
  printList(terminal, page, COLUMNS, { noun: 'key', command: 'posthorn keys list' })
}

async function create(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const { options } = args
  const { name } = options
  if (name === undefined || name.trim() === '')
    throw new UsageError('keys create needs --name, such as --name dashboard.')
  const scopes = (options.scopes ?? 'read').split(',').map((scope) => requireWord('scopes', scope.trim(), SCOPES))
  const expiresAt = options.expires === undefined ? null : parseExpiry(options.expires, systemClock.now())
  const posthorn = await open()
  const created = await posthorn.apiKeys.create({ name, scopes, expiresAt })
  if (options.json !== undefined) return printJson(terminal, created)
  terminal.out(created.key)
  terminal.error(`This is the only time that the key ${created.id} is shown. Store it where ${created.name} reads it.`)
}

/** `90d`, a date (its beginning in UTC) or a time. */
function parseExpiry(text: string, nowMs: number): string {
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1]
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text
  const ms = days === undefined ? parseTime(time) : nowMs + Number(days) * 86_400_000
  if (ms === undefined) throw new UsageError('--expires must be such as 90d, 2027-01-31 or 2027-01-31T08:00:00Z.')
  if (ms <= nowMs) throw new UsageError('--expires must be in the future.')
  return isoTime(ms)
}

async function revoke(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'keys revoke', 'the id of a key', 'posthorn keys list')
  const posthorn = await open()
  const done = await posthorn.apiKeys.revoke(id)
  if (args.options.json !== undefined) return printJson(terminal, done)
  terminal.out(done.message)
}
