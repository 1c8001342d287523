import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { HOST } from '../loopback.ts'

/** The SMTP reply code to a recipient; undefined accepts. */
export type RecipientPolicy = (email: string) => number | undefined

export interface RecipientPolicyServer {
  port: number
  behave(policy: RecipientPolicy): void
  close(): Promise<void>
}

/**
 * Decides about each RCPT TO of a mail server. Postfix sends the attributes of SMTPD_POLICY_README, one a line, and an empty line.
 * Exim sends the address alone and ends its side.
 */
export async function startRecipientPolicy(): Promise<RecipientPolicyServer> {
  let policy: RecipientPolicy = () => undefined
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let request = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      request += chunk.toString('utf8')
      if (!request.endsWith('\n\n')) return
      const code = policy(/^recipient=(.*)$/m.exec(request)?.[1] ?? '')
      request = ''
      socket.write(
        `action=${code === undefined ? 'dunno' : `${code} ${code < 500 ? '4.7.1' : '5.7.1'} Refused by the test`}\n\n`,
      )
    })
    socket.on('end', () => socket.end(request === '' ? '' : String(policy(request) ?? 'accept')))
  })
  server.listen(0, HOST)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    behave(next) {
      policy = next
    },
    // Postfix keeps its connections until it ends, so closing does not wait for them.
    async close() {
      server.close()
    },
  }
}
