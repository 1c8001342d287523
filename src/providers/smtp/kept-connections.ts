import type { MailAccess, SmtpSettings } from '../contract/index.ts'
import type { SmtpClient } from './connection.ts'

export interface SignedIn {
  client: SmtpClient
  settings: SmtpSettings
}

interface Kept extends SignedIn {
  access: MailAccess
  timer: NodeJS.Timeout
}

const MAX_KEPT = 200

/**
 * The connections of accounts that have just sent, for their next messages: connecting, TLS and signing in take several round trips. At
 * most one per account, and 200 in all. A server that sends anything meanwhile ends its connection.
 */
export class KeptConnections {
  /** By account id, the oldest first. */
  readonly #kept = new Map<string, Kept>()
  readonly #keptMs: number

  constructor(keptMs: number) {
    this.#keptMs = keptMs
  }

  keep(access: MailAccess, signedIn: SignedIn): void {
    const { accountId } = access
    this.close(accountId)
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined && this.#kept.size >= MAX_KEPT) this.close(oldest)
    const timer = setTimeout(() => this.close(accountId), this.#keptMs).unref()
    this.#kept.set(accountId, { ...signedIn, access, timer })
  }

  /** An open connection to the same server, with the same username and password. It is the caller's then. */
  take(access: MailAccess): SignedIn | undefined {
    const kept = this.#kept.get(access.accountId)
    if (kept === undefined) return undefined
    if (!kept.client.isOpen || !reachesSame(kept.access, access)) {
      this.close(access.accountId)
      return undefined
    }
    this.#kept.delete(access.accountId)
    clearTimeout(kept.timer)
    return { client: kept.client, settings: kept.settings }
  }

  /** Closes the connection of the account, or all. */
  close(accountId?: string): void {
    for (const id of accountId === undefined ? [...this.#kept.keys()] : [accountId]) {
      const kept = this.#kept.get(id)
      clearTimeout(kept?.timer)
      kept?.client.close()
      this.#kept.delete(id)
    }
  }
}

function reachesSame(left: MailAccess, right: MailAccess): boolean {
  const loginKey = ({ secrets, settings }: MailAccess) =>
    JSON.stringify([secrets.smtpPassword ?? secrets.password, settings.smtp, settings.imap])
  return loginKey(left) === loginKey(right)
}
