/**
 * Many bare imapflow clients as a process of their own: connects each to its INBOX, prints how many milliseconds that took, and stays in
 * IDLE until it is ended.
 */
import type { ImapFlow } from 'imapflow'
import { connectBare } from './bare-imap.ts'
import { readOptions } from './bare-process.ts'

export interface BareIdlers {
  host: string
  port: number
  users: readonly string[]
  password: string
  /** How many connect at once. Default 16. */
  atOnce?: number
}

const { host, port, users, password, atOnce = 16 } = await readOptions<BareIdlers>()
const waiting = [...users]
const clients: ImapFlow[] = []

async function connectSome(): Promise<void> {
  for (let user = waiting.pop(); user !== undefined; user = waiting.pop()) {
    const client = await connectBare({ host, port, user, password })
    await client.mailboxOpen('INBOX')
    void client.idle()
    clients.push(client)
  }
}

const startedMs = performance.now()
await Promise.all(Array.from({ length: Math.min(atOnce, users.length) }, connectSome))
process.stdout.write(`${performance.now() - startedMs}\n`)
