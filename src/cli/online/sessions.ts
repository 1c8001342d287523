import { systemClock } from '../../platform/time/clock.ts'
import type { AuthSession, AuthSessionStatus } from '../../ui/generated/api-objects.ts'
import { type Command, type CommandArguments, type Terminal, UsageError } from '../command.ts'
import { printJson } from '../json.ts'
import { type Client, client, ONLINE_OPTIONS } from './client.ts'
import { relativeTime, requireWord } from './options.ts'
import { details } from './table.ts'

const PROVIDERS = ['gmail', 'microsoft', 'imap']

/** Options of commands that create a session. */
export const SESSION_OPTIONS = {
  provider: { value: 'NAME', about: `only mailboxes of this provider: ${PROVIDERS.join(', ')}` },
  user: { value: 'ID', about: 'your own id for the user, stored with the account' },
}

export const sessionCommands: Readonly<Record<string, Command>> = {
  'sessions create': {
    summary: 'create a link with which a user connects a mailbox',
    operand: '[address]',
    options: {
      ...SESSION_OPTIONS,
      redirect: { value: 'URL', about: 'where the browser goes afterwards; default: the start page of the service' },
      minutes: { value: 'NUMBER', about: 'how long the link works; default 30' },
      ...ONLINE_OPTIONS,
    },
    examples: [
      'posthorn sessions create ada@acme.example',
      'posthorn sessions create --user 4711 --redirect https://app.example.com/connected --minutes 60',
    ],
    run: create,
  },
  'sessions show': {
    summary: 'show whether a link was used, and the account that it connected',
    operand: '<code>',
    options: ONLINE_OPTIONS,
    examples: ['posthorn sessions show q3Vt8nXo2yLr5wKj9cZb1uHd6mPs4gAe7fTiRk0NvBY'],
    run: show,
  },
}

/** Creates a session with the options of the command, for the address that is its operand. */
export async function createSession(
  api: Client,
  { operands, options }: CommandArguments,
  redirectUri: string,
): Promise<AuthSession> {
  const [email] = operands
  const { minutes, provider, user } = options
  if (minutes !== undefined && !/^[1-9]\d{0,3}$/.test(minutes)) {
    throw new UsageError('--minutes must be a whole number from 1.')
  }
  return api.post<AuthSession>('/auth/sessions', {
    email,
    provider: requireWord('provider', provider, PROVIDERS),
    customUserId: user,
    expiresInMinutes: minutes === undefined ? undefined : Number(minutes),
    redirectUri,
  })
}

/** The start page of the service, at the address that browsers use. It says whether a mailbox was connected. */
export async function startPage(api: Client): Promise<string> {
  const { docsUrl } = await api.get<{ docsUrl: string }>('/')
  return docsUrl.replace(/docs$/, '')
}

async function create(terminal: Terminal, args: CommandArguments): Promise<void> {
  const api = client(args)
  const session = await createSession(api, args, args.options.redirect ?? (await startPage(api)))
  if (args.options.json !== undefined) return printJson(terminal, session)
  terminal.out(session.authUrl)
  terminal.error(`The link connects one mailbox, and works until ${session.expiresAt}.`)
}

async function show(terminal: Terminal, args: CommandArguments): Promise<void> {
  const [code] = args.operands
  if (code === undefined) throw new UsageError('sessions show needs the code of a session: the end of its link.')
  const session = await client(args).get<AuthSessionStatus>(`/auth/sessions/${encodeURIComponent(code)}`)
  if (args.options.json !== undefined) return printJson(terminal, session)
  const lines = details({
    Status: session.status,
    Account: session.accountId,
    Email: session.email,
    Provider: session.provider,
    Failure: session.failureCode,
    Expires: `${session.expiresAt}  ${relativeTime(session.expiresAt, systemClock.now())}`,
  })
  for (const line of lines) terminal.out(line)
}
