import { createHmac, randomBytes } from 'node:crypto'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import { sha256 } from '../../../platform/crypto/sha256.ts'
import { sameText } from '../../../platform/crypto/signature.ts'
import { cookieAttributes, parseCookies } from '../../../platform/http/index.ts'

/**
 * Proves that a form was posted from one of our pages in the browser that opened it (a signed double-submit cookie). The
 * page carries the state, and the cookie an HMAC of code and state. Nothing is stored, so opening a link changes nothing.
 * The cookie's name contains a hash of code and state, so every tab has its own cookie.
 */
interface CsrfCookies {
  /** Makes a state for a link that came without one. */
  mint(code: string): string
  /** True for a state made by `mint`. The application did not choose it, so the redirect does not return it. */
  isMinted(code: string, state: string): boolean
  /** `Set-Cookie` values: this page's cookie, and expired ones for the oldest when the browser holds too many. */
  set(code: string, state: string, lifetimeMs: number, cookieHeader: string | undefined): string[]
  /** `Set-Cookie` value that removes this page's cookie. */
  clear(code: string, state: string): string
  /** True when the `Cookie` header contains the cookie of this code and state. */
  isValid(code: string, state: string, cookieHeader: string | undefined): boolean
}

const COOKIE_PREFIX = 'posthorn_auth_'
/** Browsers send all of them with each request, so older ones are removed. */
const MAX_COOKIES = 12
const NAME_CHARS = 8
const RANDOM_BYTES = 16
const SIGNATURE_CHARS = 22

export function csrfCookies(deps: { sealer: Sealer; publicUrl: string }): CsrfCookies {
  const key = deps.sealer.derive('hosted pages')
  const hmac = (purpose: string, ...parts: string[]) =>
    createHmac('sha256', key)
      .update(JSON.stringify([purpose, ...parts]))
      .digest('base64url')
  const attributes = cookieAttributes(deps.publicUrl, 'Lax')
  const cookieName = (code: string, state: string) =>
    COOKIE_PREFIX + sha256(JSON.stringify([code, state]), 'hex').slice(0, NAME_CHARS)
  const expire = (name: string) => `${name}=; Max-Age=0; ${attributes}`

  return {
    mint(code) {
      const random = randomBytes(RANDOM_BYTES).toString('base64url')
      return `${random}.${hmac('state', code, random).slice(0, SIGNATURE_CHARS)}`
    },
    isMinted(code, state) {
      const [random = '', signature = ''] = state.split('.')
      return sameText(signature, hmac('state', code, random).slice(0, SIGNATURE_CHARS))
    },
    set(code, state, lifetimeMs, cookieHeader) {
      const name = cookieName(code, state)
      const others = parseCookies(cookieHeader).filter(
        (cookie) => cookie.name.startsWith(COOKIE_PREFIX) && cookie.name !== name,
      )
      const surplus = others.slice(0, Math.max(0, others.length - MAX_COOKIES))
      const seconds = Math.max(1, Math.ceil(lifetimeMs / 1000))
      return [
        `${name}=${hmac('cookie', code, state)}; Max-Age=${seconds}; ${attributes}`,
        ...surplus.map((cookie) => expire(cookie.name)),
      ]
    },
    clear: (code, state) => expire(cookieName(code, state)),
    isValid(code, state, cookieHeader) {
      const name = cookieName(code, state)
      const expected = hmac('cookie', code, state)
      return parseCookies(cookieHeader).some((cookie) => cookie.name === name && sameText(cookie.value, expected))
    },
  }
}
