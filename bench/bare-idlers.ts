/**
 * Many bare imapflow clients as a process of their own: reads its options (a line of JSON) from stdin, connects each client to its INBOX,
 * prints `ready`, and stays in IDLE until it is ended.
 */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ImapFlow } from 'imapflow'
import { connectBare } from './bare-imap.ts'

export interface BareIdlers {
  host: string
  port: number
  users: readonly string[]
  password: string
}

const CONNECTING = 16

const [line] = await once(createInterface({ input: process.stdin }), 'line')
const { host, port, users, password }: BareIdlers = JSON.parse(String(line))
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

await Promise.all(Array.from({ length: CONNECTING }, connectSome))
process.stdout.write('ready\n')
