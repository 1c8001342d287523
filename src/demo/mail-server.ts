import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import hoodiecrow, { type ImapServer } from 'hoodiecrow-imap'
import fetchHandlers, { type FetchHandler, type FetchItem } from 'hoodiecrow-imap/lib/commands/handlers/fetch.js'
import { generate } from 'selfsigned'
import { demoMail, type MailText, SEEDED_MAILS } from './messages.ts'

export interface DemoMailServer {
  host: string
  port: number
  user: string
  password: string
  /** Puts a mail into the inbox, as if it had just arrived; idling clients are told at once. */
  deliver(mail: MailText): Promise<void>
  close(): Promise<void>
}

const USER = 'ada@demo.posthorn.example'
const PASSWORD = 'demo-password'
const HOST = '127.0.0.1'

/**
 * A throwaway IMAP server in this process, in memory, for the demo only: hoodiecrow needs nothing installed, but it is
 * no judge of correctness. The tests speak to a real Dovecot.
 */
export async function startDemoMailServer(): Promise<DemoMailServer> {
  const certificate = await generate([{ name: 'commonName', value: HOST }], { keySize: 2048 })
  const imap = hoodiecrow({
    secureConnection: true,
    credentials: { key: certificate.private, cert: certificate.cert },
    plugins: ['IDLE', 'ENABLE', 'UIDPLUS', 'SPECIAL-USE', 'NAMESPACE', 'UNSELECT', repairPartialFetch],
    users: { [USER]: { password: PASSWORD } },
    storage: {
      INBOX: { messages: SEEDED_MAILS.map((mail) => ({ raw: demoMail(mail), internaldate: imapDate(mail.sentAt) })) },
      '': { separator: '/', folders: { Sent: { 'special-use': '\\Sent' }, Drafts: { 'special-use': '\\Drafts' } } },
    },
  })
  const sockets = trackSockets(imap.server)
  imap.listen(0, HOST)
  await once(imap.server, 'listening')
  return {
    host: HOST,
    port: (imap.server.address() as AddressInfo).port,
    user: USER,
    password: PASSWORD,
    async deliver(mail) {
      imap.appendMessage('INBOX', [], imapDate(mail.sentAt), demoMail(mail))
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      if (imap.server.listening) await new Promise((resolve) => imap.server.close(resolve))
    },
  }
}

/**
 * hoodiecrow shortens the asked range `<0.65536>` in place while it answers the first message, so that every later
 * message of the same FETCH comes empty. Each message gets the range as it was asked.
 */
function repairPartialFetch(server: ImapServer): void {
  const asked = new WeakMap<FetchItem, number[]>()
  const body: FetchHandler = (connection, message, item) => {
    const range = asked.get(item) ?? item.partial
    if (range === undefined) return fetchHandlers.BODY(connection, message, item)
    asked.set(item, range)
    const answer = fetchHandlers.BODY(connection, message, { ...item, partial: [...range] })
    // The answer names where the part begins, not how much was asked for.
    item.partial = range.slice(0, 1)
    return answer
  }
  // The first message is asked for by BODY.PEEK, the later ones, after hoodiecrow has renamed the item, by BODY.
  Object.assign(server.fetchHandlers, { BODY: body, 'BODY.PEEK': body })
}

/** net.Server does not end its connections when it closes; idling clients would keep the demo alive. */
function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>()
  server.on('secureConnection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A client that goes away in mid-answer is no event for a demo server.
    socket.on('error', () => socket.destroy())
  })
  return sockets
}

/** `20-Nov-2026 09:30:00 +0000`, the INTERNALDATE form of RFC 3501. */
function imapDate(at: Date): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(at.toUTCString()) ?? []
  return `${day}-${month}-${year} ${time} +0000`
}
