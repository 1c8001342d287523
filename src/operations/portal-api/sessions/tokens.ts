import { createHmac, hash } from 'node:crypto'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import { sameText } from '../../../platform/crypto/signature.ts'
import { cookieAttributes, parseCookies } from '../../../platform/http/index.ts'
import { secretToken } from '../../../platform/ids.ts'

export interface Credentials {
  username: string
  password: string
}

/** Tokens of sessions and of browsers that signed in before, and the cookies that carry them. */
export interface SessionTokens {
  generate(kind: 'session' | 'browser'): string
  /** The token in the cookie; undefined without one that this service made under the current credentials. */
  find(kind: 'session' | 'browser', cookieHeader: string | undefined): string | undefined
  /** The id of the session's row. */
  rowId(token: string): string
  /** Computed from the token, so that it needs no storage and cannot be known without the response that contains it. */
  csrfToken(token: string): string
  cookie(kind: 'session' | 'browser', token: string): string
  /** Removes the cookie of the session. */
  expiredCookie(): string
}

/** Only the sign-in needs to recognise a browser. */
export const SIGN_IN_PATH = '/admin/session'
const BROWSER_SECONDS = 180 * 24 * 60 * 60
const TOKEN_CHARS = 43

/**
 * A token is random and ends in its HMAC, so forged cookies cost no query. The key of the HMACs is made of the credentials, so none
 * of them survives a change of the password, and of the key ring, so that nobody can check guesses at the password with a cookie.
 */
export function sessionTokens(credentials: Credentials, publicUrl: string, sealer: Sealer): SessionTokens {
  const { username, password } = credentials
  const key = createHmac('sha256', sealer.derive('portal'))
    .update(JSON.stringify([username, password]))
    .digest()
  const hmac = (...parts: string[]) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url')
  // Browsers send cookies to every port of a host.
  const service = hash('sha256', publicUrl, 'hex').slice(0, 8)
  const names = { session: `posthorn_admin_${service}`, browser: `posthorn_browser_${service}` }
  const attributes = {
    session: cookieAttributes(publicUrl, 'Strict'),
    browser: `Max-Age=${BROWSER_SECONDS}; ${cookieAttributes(publicUrl, 'Strict', SIGN_IN_PATH)}`,
  }
  return {
    generate(kind) {
      const random = secretToken()
      return random + hmac(kind, random)
    },
    find(kind, cookieHeader) {
      const token = parseCookies(cookieHeader).find(({ name }) => name === names[kind])?.value
      if (token === undefined) return undefined
      const random = token.slice(0, TOKEN_CHARS)
      return sameText(token, random + hmac(kind, random)) ? token : undefined
    },
    rowId: (token) => hmac('row', token),
    csrfToken: (token) => hmac('csrf', token),
    cookie: (kind, token) => `${names[kind]}=${token}; ${attributes[kind]}`,
    expiredCookie: () => `${names.session}=; Max-Age=0; ${attributes.session}`,
  }
}
