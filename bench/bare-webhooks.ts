/**
 * A bare client of many mailboxes, as a process of its own: stays in IDLE, fetches what sync fetches, and sends one POST per
 * message, without storing or signing anything. Prints `ready` when every mailbox is in IDLE.
 */
import type { ImapFlow } from 'imapflow'
import { Agent } from 'undici'
import { messageQuery } from '../src/providers/imap/messages/map.ts'
import { connectBare } from './bare-imap.ts'
import { readOptions } from './bare-process.ts'

interface BareWebhooks {
  host: string
  port: number
  users: readonly string[]
  password: string
  url: string
}

const { host, port, users, password, url } = await readOptions<BareWebhooks>()
const agent = new Agent()
const { origin, pathname } = new URL(url)

const clients = await Promise.all(users.map(open))
process.stdout.write('ready\n')
await Promise.all(clients.map(listen))

async function open(user: string): Promise<ImapFlow> {
  const imap = await connectBare({ host, port, user, password }, { disableAutoIdle: true })
  await imap.mailboxOpen('INBOX', { readOnly: true })
  return imap
}

async function listen(imap: ImapFlow): Promise<void> {
  let exists = imap.mailbox ? imap.mailbox.exists : 0
  let next = imap.mailbox ? imap.mailbox.uidNext : 1
  let fetched = exists
  let wake = () => {}
  imap.on('exists', ({ count }) => {
    exists = count
    wake()
  })
  while (imap.usable) {
    imap.idle().catch(() => false)
    await new Promise<void>((resolve) => {
      wake = resolve
      if (exists > fetched) resolve()
    })
    for await (const { uid, flags, size, headers, bodyParts } of imap.fetch(`${next}:*`, messageQuery, { uid: true })) {
      if (uid < next) continue
      next = uid + 1
      fetched += 1
      const text = bodyParts?.get('text')?.toString()
      void post({ uid, flags: [...(flags ?? [])], size, header: headers?.toString(), text })
    }
  }
}

async function post(message: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await agent.request({
    origin,
    path: pathname,
    method: 'POST',
    headers,
    body: JSON.stringify(message),
  })
  await response.body.dump()
}
