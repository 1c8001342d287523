import { createServer, type Socket } from 'node:net'
import { createSecureContext } from 'node:tls'
import { connectSmtp, type SmtpDialing } from '../../src/providers/smtp/connection.ts'
import { SMTP_LIMITS } from '../../src/providers/smtp/limits.ts'
import { openGuard } from '../servers/imap-mailbox.ts'
import { buildCases, type HostileCase } from './hostile-case.ts'
import { filled, type Shape } from './mime.ts'

const KB = 1024
const CRLF = '\r\n'

const REPLIES: Shape[] = [
  ['lines', filled('', `250-a${CRLF}`, `250 a${CRLF}`)],
  ['lines without an end', filled('', `250-a${CRLF}`)],
  ['lines of other codes', filled('', `999-a${CRLF}`, `250 a${CRLF}`)],
  ['one line', filled('250 ', 'a', CRLF)],
  ['one line without an end', filled('', 'a')],
  ['digits', filled('', '1', CRLF)],
  ['dashes', filled('250', '-', CRLF)],
  ['spaces', filled('250', ' ', CRLF)],
  ['empty lines', filled('', CRLF)],
  ['line feeds', filled('', '\n')],
  ['carriage returns', filled('250 ', '\r')],
  ['lines of white space', filled('', ` \t${CRLF}`)],
  ['replies', filled('', `250 a${CRLF}`)],
  ['extensions', filled('', `250-AUTH PLAIN LOGIN SMTPUTF8 SIZE 1${CRLF}`, `250 a${CRLF}`)],
  ['mechanisms', filled(`250-a${CRLF}250 AUTH`, ' a', CRLF)],
  ['spaces between mechanisms', filled(`250-a${CRLF}250 AUTH`, ' ', `x${CRLF}`)],
  ['digits of a size', filled(`250-a${CRLF}250 SIZE `, '1', CRLF)],
  ['spaces before a size', filled(`250-a${CRLF}250 SIZE`, ' ', `x${CRLF}`)],
  ['bytes that are not UTF-8', filled('250 ', '\u00ff', CRLF)],
]

/** The replies that the server replaces, each with the replies before it. */
const STAGES: [stage: string, before: string[]][] = [
  ['greeting', []],
  ['reply to EHLO', [`220 a${CRLF}`]],
  ['reply to AUTH', [`220 a${CRLF}`, `250-a${CRLF}250 AUTH PLAIN${CRLF}`]],
]

const settings = { port: 0, username: 'ada', security: 'starttls', allowPlain: true } as const
const dialing: SmtpDialing = {
  guard: openGuard,
  limits: SMTP_LIMITS,
  tlsContext: () => createSecureContext(),
  onPlainLogin() {},
}

/** Connects to a server that sends these replies, one after the other, and then ends the connection. */
async function signIn(replies: readonly Buffer[]): Promise<void> {
  const server = createServer((socket) => void reply(socket, replies))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const login = {
      settings: { ...settings, host: '127.0.0.1', port },
      credentials: { password: 'secret' },
      allowSelfSigned: true,
    }
    const client = await connectSmtp(login, dialing, new AbortController().signal)
    client.close()
  } finally {
    server.close()
  }
}

function reply(socket: Socket, replies: readonly Buffer[]): void {
  let sent = 0
  const next = () => {
    const bytes = replies[sent]
    sent += 1
    if (bytes !== undefined) socket.write(bytes)
    if (sent >= replies.length) socket.end()
  }
  socket.on('error', () => {})
  socket.on('data', next)
  next()
}

export const SMTP: HostileCase[] = STAGES.flatMap(([stage, before]) =>
  buildCases(
    `the ${stage} of an SMTP server`,
    {},
    REPLIES.map(([shape, text]) => ({
      shape,
      // Twice the longest reply that is read.
      size: 32 * KB,
      prepare(size: number) {
        const replies = [...before, text(size)].map((text) => Buffer.from(text, 'latin1'))
        return () => signIn(replies)
      },
    })),
  ),
)
