import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import hoodiecrow, { type ImapServer } from 'hoodiecrow-imap'
import fetchHandlers, { type FetchHandler, type FetchItem } from 'hoodiecrow-imap/lib/commands/handlers/fetch.js'
import { type MessageText, rawMessage, SAMPLE_MESSAGES } from './messages.ts'

export interface DemoMailServer {
  host: string
  port: number
  user: string
  password: string
  /** Speaks no TLS. */
  isPlain?: boolean
  /** Delivers a message to the inbox and notifies idling clients. */
  deliver(message: MessageText): Promise<void>
  close(): Promise<void>
}

const USER = 'ada@demo.posthorn.example'
/** A person types it. */
const PASSWORD = 'demo'
const HOST = '127.0.0.1'

/**
 * An IMAP server in memory, for the demo only: without encryption, because a self-signed certificate would need a setting of its own. hoodiecrow runs without installing anything, but it is not a reference
 * implementation: the tests use Dovecot.
 */
export async function startDemoMailServer(): Promise<DemoMailServer> {
  const imap = hoodiecrow({
    plugins: ['IDLE', 'ENABLE', 'UIDPLUS', 'SPECIAL-USE', 'NAMESPACE', 'UNSELECT', repairPartialFetch],
    users: { [USER]: { password: PASSWORD } },
    storage: {
      INBOX: {
        messages: SAMPLE_MESSAGES.map((message) => ({
          raw: rawMessage(message),
          internaldate: imapDate(message.sentAt),
        })),
      },
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
    isPlain: true,
    async deliver(message) {
      imap.appendMessage('INBOX', [], imapDate(message.sentAt), rawMessage(message))
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      if (imap.server.listening) await new Promise((resolve) => imap.server.close(resolve))
    },
  }
}

/**
 * hoodiecrow shortens the requested range `<0.65536>` in place for the first message, so that every later message of the same
 * FETCH is empty. This plugin passes the original range to each message.
 */
function repairPartialFetch(server: ImapServer): void {
  const requested = new WeakMap<FetchItem, number[]>()
  const body: FetchHandler = (connection, message, item) => {
    const range = requested.get(item) ?? item.partial
    if (range === undefined) return fetchHandlers.BODY(connection, message, item)
    requested.set(item, range)
    const response = fetchHandlers.BODY(connection, message, { ...item, partial: [...range] })
    // The response contains the start of the range, not its length.
    item.partial = range.slice(0, 1)
    return response
  }
  // hoodiecrow fetches the first message with BODY.PEEK and, after renaming the item, later ones with BODY.
  Object.assign(server.fetchHandlers, { BODY: body, 'BODY.PEEK': body })
}

/** Tracks connections, because idling clients would keep a closed net.Server alive. */
function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A client may disconnect in the middle of a response.
    socket.on('error', () => socket.destroy())
  })
  return sockets
}

/** `20-Nov-2026 09:30:00 +0000`, the INTERNALDATE form of RFC 3501. */
function imapDate(at: Date): string {
  const [, day, month, year, time] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(at.toUTCString()) ?? []
  return `${day}-${month}-${year} ${time} +0000`
}
