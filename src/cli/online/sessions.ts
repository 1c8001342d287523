import type { AuthSession, Posthorn } from '@posthorn/sdk'
import { systemClock } from '../../platform/time/clock.ts'
import { type Command, type CommandArguments, type Terminal, UsageError } from '../command.ts'
import { printJson } from '../json.ts'
import { ONLINE_OPTIONS, type Open, online } from './client.ts'
import { parseWord, relativeTime } from './options.ts'
import { startPage } from './start-page.ts'
import { details } from './table.ts'

const PROVIDERS = ['gmail', 'microsoft', 'imap'] as const

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
    run: online(create),
  },
  'sessions show': {
    summary: 'show whether a link was used, and the account that it connected',
    operand: '<code>',
    options: ONLINE_OPTIONS,
    examples: ['posthorn sessions show q3Vt8nXo2yLr5wKj9cZb1uHd6mPs4gAe7fTiRk0NvBY'],
    run: online(show),
  },
}

/** Creates a session with the options of the command, for the address that is its operand. */
export async function createSession(
  posthorn: Posthorn,
  { operands, options }: CommandArguments,
  redirectUri: string,
): Promise<AuthSession> {
  const [email] = operands
  const { minutes, provider, user } = options
  if (minutes !== undefined && !/^[1-9]\d{0,3}$/.test(minutes)) {
    throw new UsageError('--minutes must be a whole number from 1.')
  }
  return posthorn.sessions.create({
    email: email ?? null,
    provider: parseWord('provider', provider, PROVIDERS) ?? null,
    customUserId: user ?? null,
    expiresInMinutes: minutes === undefined ? null : Number(minutes),
    redirectUri,
  })
}

async function create(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const posthorn = await open()
  const session = await createSession(posthorn, args, args.options.redirect ?? (await startPage(args)))
  if (args.options.json !== undefined) return printJson(terminal, session)
  terminal.out(session.authUrl)
  terminal.error(`The link connects one mailbox, and works until ${session.expiresAt}.`)
}

async function show(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const [code] = args.operands
  if (code === undefined) throw new UsageError('sessions show needs the code of a session: the end of its link.')
  const posthorn = await open()
  const session = await posthorn.sessions.get(code)
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
