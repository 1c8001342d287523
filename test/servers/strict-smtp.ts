import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface StrictSmtpScript {
  /** EHLO keywords, such as `PIPELINING` or `AUTH PLAIN`. Default: both of these. */
  keywords?: readonly string[]
  /** The whole reply to RCPT; undefined accepts. */
  recipient?(email: string): string | undefined
  /** The whole reply to the end of the message; undefined accepts. */
  message?(raw: string): string | undefined
  /** The whole reply to RSET; undefined resets. */
  reset?(): string | undefined
  /** Authenticates. Sends `334` by `challenge`, which returns the client's response, and returns the whole last reply. */
  authenticate?(command: string, challenge: (text: string) => Promise<string>): Promise<string>
}

/**
 * An SMTP server without TLS that keeps to the letter of RFC 5321, as Exim and Postfix do: a transaction begins with MAIL and ends only
 * with its message, RSET or EHLO, and a command out of order gets 503.
 */
export interface StrictSmtp {
  readonly host: string
  readonly port: number
  /** Accepted messages with their recipients. */
  readonly messages: { raw: string; to: string[] }[]
  /** Verbs of all connections, in order, except within messages. */
  readonly commands: string[]
  connections(): number
  behave(script: StrictSmtpScript): void
  close(): Promise<void>
}

export async function startStrictSmtp(first: StrictSmtpScript = {}): Promise<StrictSmtp> {
  let script = first
  let connections = 0
  const messages: StrictSmtp['messages'] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    void serve(socket, { script: () => script, messages, commands })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    host: '127.0.0.1',
    port,
    messages,
    commands,
    connections: () => connections,
    behave(next) {
      script = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

interface Serving {
  script(): StrictSmtpScript
  messages: StrictSmtp['messages']
  commands: string[]
}

async function serve(socket: Socket, { script, messages, commands }: Serving): Promise<void> {
  const lines = readLines(socket)
  const reply = (text: string) => void socket.write(`${text}\r\n`)
  let sender: string | undefined
  let recipients: string[] = []
  const reset = () => {
    sender = undefined
    recipients = []
  }
  const receive = async () => {
    reply('354 Send it')
    let raw = ''
    for (;;) {
      const line = await lines.next()
      // The connection broke: without its end, the message counts as not sent.
      if (line.done) return '451 4.4.2 Incomplete'
      if (line.value === '.') break
      raw += `${line.value.replace(/^\./, '')}\r\n`
    }
    const refusal = script().message?.(raw)
    if (refusal === undefined) messages.push({ raw, to: recipients })
    reset()
    return refusal ?? '250 Accepted'
  }
  const challenge = async (text: string) => {
    reply(`334 ${Buffer.from(text).toString('base64')}`)
    const { value } = await lines.next()
    return Buffer.from(typeof value === 'string' ? value : '', 'base64').toString()
  }
  const respond = async (verb: string, line: string): Promise<string> => {
    switch (verb) {
      case 'EHLO': {
        reset()
        const keywords = script().keywords ?? ['PIPELINING', 'AUTH PLAIN']
        return ['mx.test', ...keywords]
          .map((text, at) => `250${at === keywords.length ? ' ' : '-'}${text}`)
          .join('\r\n')
      }
      case 'AUTH':
        return script().authenticate?.(line, challenge) ?? '235 Welcome'
      case 'MAIL':
        if (sender !== undefined) return '503 5.5.1 sender already given'
        sender = line
        return '250 Sender accepted'
      case 'RCPT': {
        if (sender === undefined) return '503 5.5.1 need MAIL before RCPT'
        const email = /<(.*)>/.exec(line)?.[1] ?? ''
        const refusal = script().recipient?.(email)
        if (refusal === undefined) recipients.push(email)
        return refusal ?? '250 Recipient accepted'
      }
      case 'DATA':
        return recipients.length === 0 ? '503 5.5.1 valid RCPT command must precede DATA' : receive()
      case 'RSET': {
        const refusal = script().reset?.()
        if (refusal === undefined) reset()
        return refusal ?? '250 Reset'
      }
      default:
        return '500 5.5.2 unknown command'
    }
  }
  reply('220 mx.test ESMTP')
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    const verb = (line.value.split(' ')[0] ?? '').toUpperCase()
    commands.push(verb)
    reply(await respond(verb, line.value))
  }
}

async function* readLines(socket: Socket): AsyncGenerator<string> {
  let unread = ''
  socket.setEncoding('latin1')
  try {
    for await (const chunk of socket) {
      const lines = (unread + chunk).split('\r\n')
      unread = lines.pop() ?? ''
      yield* lines
    }
  } catch {
    // The connection broke.
  }
}
