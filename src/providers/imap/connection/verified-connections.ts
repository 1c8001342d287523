import type { MailAccess } from '../../contract/index.ts'
import type { ImapClient } from './client.ts'

/** Linking the account takes milliseconds. */
const KEPT_MS = 5_000
const MAX_KEPT = 20

interface Kept {
  client: ImapClient
  access: MailAccess
  /** Stops waiting for the sync. */
  release(): void
}

/**
 * Connections on which a sign-in was just verified, for the sync of the account that is linked next. Nobody signs in a second time then.
 * A connection that no sync takes is closed after five seconds, and at once when the server sends anything, because nothing was asked.
 */
export class VerifiedConnections {
  /** The oldest first. */
  readonly #kept = new Set<Kept>()

  keep(client: ImapClient, access: MailAccess): void {
    const close = () => {
      kept.release()
      client.imap.close()
    }
    const timer = setTimeout(close, KEPT_MS)
    const stopListening = client.onTraffic(close)
    const kept: Kept = {
      client,
      access,
      release: () => {
        this.#kept.delete(kept)
        clearTimeout(timer)
        stopListening()
        client.imap.off('close', kept.release)
      },
    }
    client.imap.once('close', kept.release)
    const [oldest] = this.#kept
    if (this.#kept.size >= MAX_KEPT) closeKept(oldest)
    this.#kept.add(kept)
  }

  /** An open connection to the same folder of the same server, with the same username and password. It is the caller's then. */
  take(access: MailAccess): ImapClient | undefined {
    for (const kept of this.#kept) {
      if (!reachesSame(kept.access, access)) continue
      kept.release()
      if (!kept.client.imap.usable) continue
      return kept.client
    }
    return undefined
  }

  close(): void {
    for (const kept of [...this.#kept]) closeKept(kept)
  }
}

function closeKept(kept: Kept | undefined): void {
  kept?.release()
  kept?.client.imap.close()
}

export function reachesSame(left: MailAccess, right: MailAccess): boolean {
  return (
    left.secrets.password === right.secrets.password &&
    JSON.stringify(left.settings.imap) === JSON.stringify(right.settings.imap)
  )
}
