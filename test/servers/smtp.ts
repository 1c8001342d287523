import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMessage {
  from: string
  /** The server shows domains in Unicode. */
  to: string[]
  raw: Buffer
  /** The client asked for SMTPUTF8. */
  isUtf8: boolean
}

/** How the server responds. A number is an SMTP reply code. */
export interface SmtpBehaviour {
  /** Reply to RCPT TO; undefined accepts. */
  recipient?(email: string): number | undefined
  /** Reply to the message; `drop` accepts it and closes the connection without a reply. */
  message?(received: ReceivedMessage): number | 'drop' | undefined | Promise<number | 'drop' | undefined>
  password?: string
  /** The reply to a wrong password. */
  refusal?(password: string): string
}

/** A real SMTP server that keeps what it accepts. */
export interface SmtpSink {
  readonly host: string
  readonly port: number
  /** Every message that the server accepted, in order. */
  readonly messages: ReceivedMessage[]
  /** Connections since the start, and those that are open. */
  connections(): number
  openConnections(): number
  /** Ends every connection without a word. */
  hangUp(): void
  behave(behaviour: SmtpBehaviour): void
  close(): Promise<void>
}

export interface SmtpSinkOptions {
  secure?: boolean
  /** Without it, the server offers STARTTLS, with a certificate that nobody trusts. */
  plain?: boolean
  /** PEM of the key and the certificate. */
  tls?: { key: string; cert: string }
  /** The login mechanisms. Default PLAIN and LOGIN. */
  mechanisms?: string[]
  /** The server refuses addresses with characters outside ASCII. */
  asciiOnly?: boolean
}

export async function startSmtpSink({
  secure = false,
  plain = false,
  asciiOnly = false,
  tls,
  mechanisms = ['PLAIN', 'LOGIN'],
}: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const messages: ReceivedMessage[] = []
  let behaviour: SmtpBehaviour = {}
  let connections = 0
  const refusal = (code: number) => Object.assign(new Error('5.0.0 Refused by the test'), { responseCode: code })
  const hangUp = () => {
    for (const connection of server.connections) connection.close()
  }
  const server = new SMTPServer({
    secure,
    hideSMTPUTF8: asciiOnly,
    ...(plain && { disabledCommands: ['STARTTLS'] }),
    ...tls,
    authMethods: mechanisms,
    allowInsecureAuth: plain,
    authOptional: true,
    logger: false,
    size: 64 * 1024 * 1024,
    onConnect(_session, done) {
      connections += 1
      done()
    },
    onAuth({ username, password }, _session, done) {
      if (behaviour.password === undefined || behaviour.password === password) return done(null, { user: username })
      const text = behaviour.refusal?.(password ?? '')
      done(text === undefined ? refusal(535) : Object.assign(new Error(text), { responseCode: 535 }))
    },
    onRcptTo({ address }, _session, done) {
      const code = behaviour.recipient?.(address)
      done(code === undefined ? null : refusal(code))
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom === false || mailFrom === undefined ? '' : mailFrom.address
        const isUtf8 = mailFrom !== false && mailFrom !== undefined && Object(mailFrom.args).SMTPUTF8 === true
        const received = { from, to: rcptTo.map(({ address }) => address), raw: Buffer.concat(chunks), isUtf8 }
        const result = await behaviour.message?.(received)
        if (typeof result === 'number') return done(refusal(result))
        messages.push(received)
        if (result !== 'drop') return done()
        hangUp()
      })
    },
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    host: '127.0.0.1',
    port,
    messages,
    connections: () => connections,
    openConnections: () => server.connections.size,
    hangUp,
    behave(next) {
      behaviour = next
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}
