import type { Dovecot } from '../test/servers/dovecot.ts'
import { connectBare } from './bare-imap.ts'

/** A bare imapflow client on a mailbox's INBOX. Arrays are indexed by message, from 0. */
export interface BareListener {
  /** When the server's EXISTS arrived. */
  readonly notifiedAtMs: readonly number[]
  /** When the header had been fetched. Empty unless the client fetches. */
  readonly fetchedAtMs: readonly number[]
  close(): Promise<void>
}

/**
 * Stays in IDLE. A client that fetches must end IDLE for each notification, as any program that wants the message must.
 * Dovecot sends notifications at most every 500 ms per connection, so such a client receives them in another phase than one
 * that only listens.
 */
export async function listenBare(
  dovecot: Dovecot,
  user: string,
  password: string,
  fetches: boolean,
): Promise<BareListener> {
  const notifiedAtMs: number[] = []
  const fetchedAtMs: number[] = []
  const server = { host: dovecot.host, port: dovecot.imapsPort }
  const imap = await connectBare({ ...server, user, password }, { disableAutoIdle: true })
  await imap.mailboxOpen('INBOX')
  imap.on('exists', ({ count, prevCount }) => {
    for (let number = prevCount; number < count; number += 1) notifiedAtMs[number] = performance.now()
  })
  const running = run()
  return {
    notifiedAtMs,
    fetchedAtMs,
    async close() {
      imap.close()
      await running
    },
  }

  async function run(): Promise<void> {
    while (imap.usable) {
      const idling = imap.idle().catch(() => false)
      if (fetches) await nextNotification()
      else await idling
      if (fetches && imap.usable) await fetchNew().catch(() => {})
    }
  }

  function nextNotification(): Promise<void> {
    if (notifiedAtMs.length > fetchedAtMs.length) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        imap.off('exists', done).off('close', done)
        resolve()
      }
      imap.on('exists', done).on('close', done)
    })
  }

  async function fetchNew(): Promise<void> {
    for await (const message of imap.fetch(`${fetchedAtMs.length + 1}:*`, { uid: true, headers: true })) {
      fetchedAtMs[message.seq - 1] = performance.now()
    }
  }
}
