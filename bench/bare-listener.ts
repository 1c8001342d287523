import { ImapFlow } from 'imapflow'
import type { Dovecot } from '../test/servers/dovecot.ts'

/** A bare imapflow client on a mailbox's INBOX: when the server told it of each message, counted from 0. */
export interface BareListener {
  readonly noticedAtMs: readonly number[]
  /** When it had the message's header; empty for one that only listens. */
  readonly fetchedAtMs: readonly number[]
  close(): Promise<void>
}

/**
 * Idles without pause. One that fetches ends its IDLE for each notice, as every program must that wants the mail, and
 * so meets the server's own rhythm (Dovecot tells of changes at most every 500 ms) at another moment than one that only listens.
 */
export async function listenBare(
  dovecot: Dovecot,
  user: string,
  password: string,
  fetches: boolean,
): Promise<BareListener> {
  const noticedAtMs: number[] = []
  const fetchedAtMs: number[] = []
  const imap = new ImapFlow({
    host: dovecot.host,
    port: dovecot.imapsPort,
    secure: true,
    tls: { rejectUnauthorized: false },
    auth: { user, pass: password },
    logger: false,
    disableAutoIdle: true,
  })
  imap.on('error', () => {})
  await imap.connect()
  await imap.mailboxOpen('INBOX')
  imap.on('exists', ({ count, prevCount }) => {
    for (let number = prevCount; number < count; number += 1) noticedAtMs[number] = performance.now()
  })
  const running = run()
  return {
    noticedAtMs,
    fetchedAtMs,
    async close() {
      imap.close()
      await running
    },
  }

  async function run(): Promise<void> {
    while (imap.usable) {
      const idling = imap.idle().catch(() => false)
      if (fetches) await nextNotice()
      else await idling
      if (fetches && imap.usable) await fetchNew().catch(() => {})
    }
  }

  function nextNotice(): Promise<void> {
    if (noticedAtMs.length > fetchedAtMs.length) return Promise.resolve()
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
