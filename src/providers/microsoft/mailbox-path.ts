import type { MailAccess } from '../contract/index.ts'

/** Path of the mailbox of the token's user. */
const ME = '/me'
/** `/users/{id}/…` or `/users('{id}')/…`. */
const MAILBOX_OF_LINK = /^\/users(?:\/[^/?]+|\('[^']*'\))(?=\/)/i

/**
 * Whose mailbox the requests of an account lead to. Callers write paths for the user of the token (`/me/messages`). For a mailbox of
 * somebody else, which the token of a person or of an application opens, they become `/users/{id}/messages`.
 */
export class MailboxPath {
  /** `/me` or `/users/{id}`. */
  readonly path: string

  constructor({ graph }: MailAccess['settings']) {
    this.path = graph === undefined ? ME : `/users/${encodeURIComponent(graph.user)}`
  }

  /** Whether the mailbox is that of the token's user. */
  get isOwn(): boolean {
    return this.path === ME
  }

  /**
   * Links of Graph name their mailbox already. A stored one may do so by an address from before the user's id was known, which may belong
   * to somebody else by now.
   */
  resolve(path: string): string {
    if (path === ME || path.startsWith(`${ME}/`)) return this.path + path.slice(ME.length)
    return this.isOwn ? path : path.replace(MAILBOX_OF_LINK, () => this.path)
  }

  /**
   * Whether a link leads to another mailbox. Graph may name this one by its id in place of its address, but never by `me` unless it was
   * requested so.
   */
  isLeftBy(pathname: string): boolean {
    if (this.isOwn) return false
    const wanted = readMailbox(this.path)
    const named = readMailbox(pathname)
    if (named === undefined || wanted === undefined) return false
    const isSameForm = named.includes('@') === wanted.includes('@')
    return named === 'me' || (isSameForm && named !== wanted)
  }
}

/** The mailbox in `/me/…`, `/users/{id}/…` and `/users('{id}')/…`, in lower case. */
function readMailbox(pathname: string): string | undefined {
  const [, me, plain, quoted] = /\/(?:(me)(?=\/|$)|users(?:\/([^/]+)|\('([^/]*?)'\)))/i.exec(decode(pathname)) ?? []
  return (me ?? plain ?? quoted?.replaceAll("''", "'"))?.toLowerCase()
}

/** Decodes each octet by itself, because a malformed link must not throw. */
function decode(path: string): string {
  return path.replace(/%[\da-f]{2}/gi, (octet) => String.fromCharCode(Number.parseInt(octet.slice(1), 16)))
}
