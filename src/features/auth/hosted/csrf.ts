import { createHmac, randomBytes } from 'node:crypto'
import type { Sealer } from '../../../lib/seal.ts'
import { sameText } from '../../../lib/signature.ts'
import { hashOf } from '../sessions/session.ts'

/**
 * The proof that a form was posted from a page of ours, in the browser that opened it. The page carries the state, a
 * cookie the HMAC of code and state; nothing is stored, so opening a link any number of times changes nothing. The
 * cookie's name ends in a part of the hash of both: every tab has its own.
 */
export interface PageState {
  /** A state for a link that came without one. */
  mint(code: string): string
  /** True for a state made by `mint`: the application did not choose it and does not get it back. */
  isMinted(code: string, state: string): boolean
  /** `Set-Cookie` values: this page's cookie, and the ends of old ones when there are too many. */
  cookies(code: string, state: string, lifeMs: number, sent: string | undefined): string[]
  /** Ends this page's cookie. */
  ended(code: string, state: string): string
  /** Was the form of this code and state opened in the browser that sends this `Cookie` header? */
  isOpenedBy(code: string, state: string, sent: string | undefined): boolean
}

const COOKIE_PREFIX = 'posthorn_auth_'
/** Browsers send all of them with each request; beyond this the oldest go. */
const MAX_COOKIES = 12
const NAME_CHARS = 8
const RANDOM_BYTES = 16
const MAC_CHARS = 22

export function pageState(deps: { sealer: Sealer; publicUrl: string }): PageState {
  const key = deps.sealer.derive('hosted pages')
  const mac = (purpose: string, ...parts: string[]) =>
    createHmac('sha256', key)
      .update(JSON.stringify([purpose, ...parts]))
      .digest('base64url')
  const { protocol, pathname } = new URL(deps.publicUrl)
  const attributes = `Path=${pathname.replace(/\/$/, '') || '/'}; HttpOnly; SameSite=Lax${protocol === 'https:' ? '; Secure' : ''}`
  const nameOf = (code: string, state: string) =>
    COOKIE_PREFIX + hashOf(JSON.stringify([code, state])).slice(0, NAME_CHARS)
  const end = (name: string) => `${name}=; Max-Age=0; ${attributes}`

  return {
    mint(code) {
      const random = randomBytes(RANDOM_BYTES).toString('base64url')
      return `${random}.${mac('state', code, random).slice(0, MAC_CHARS)}`
    },
    isMinted(code, state) {
      const [random = '', signature = ''] = state.split('.')
      return sameText(signature, mac('state', code, random).slice(0, MAC_CHARS))
    },
    cookies(code, state, lifeMs, sent) {
      const name = nameOf(code, state)
      const others = cookiesOf(sent).filter((cookie) => cookie.name.startsWith(COOKIE_PREFIX) && cookie.name !== name)
      const surplus = others.slice(0, Math.max(0, others.length - MAX_COOKIES))
      const seconds = Math.max(1, Math.ceil(lifeMs / 1000))
      return [
        `${name}=${mac('cookie', code, state)}; Max-Age=${seconds}; ${attributes}`,
        ...surplus.map((cookie) => end(cookie.name)),
      ]
    },
    ended: (code, state) => end(nameOf(code, state)),
    isOpenedBy(code, state, sent) {
      const name = nameOf(code, state)
      const expected = mac('cookie', code, state)
      return cookiesOf(sent).some((cookie) => cookie.name === name && sameText(cookie.value, expected))
    },
  }
}

function cookiesOf(header: string | undefined): { name: string; value: string }[] {
  return (header ?? '').split(';').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=')
    // Only names that we could have set are ever echoed into a header.
    return /^\s*[A-Za-z0-9_]+\s*$/.test(name) ? [{ name: name.trim(), value: value.join('=').trim() }] : []
  })
}
