import { sign } from 'node:crypto'
import { Type } from 'typebox'
import { Pool } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import { ProviderError } from '../contract/index.ts'
import { exchange, readBody, shape } from '../rest/index.ts'
import type { ServiceAccount } from './credentials.ts'

const SCOPE = 'https://www.googleapis.com/auth/pubsub'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const LIFETIME_SECONDS = 3600
/** Google refuses what is issued in its future. */
const SKEW_SECONDS = 30
const REFRESH_BEFORE_MS = 120_000
const TIMEOUT_MS = 10_000
const MAX_BYTES = 64 * 1024
const DOING = 'signing in as the service account'

const answered = shape(Type.Object({ access_token: Type.String({ minLength: 1 }), expires_in: Type.Number() }))

/** An access token of the service account (RFC 7523), asked for once for whoever waits and kept until shortly before its end. */
export function serviceToken(account: ServiceAccount, clock: Clock): (refused?: string) => Promise<string> {
  let kept: { token: string; until: number } | undefined
  let asking: Promise<string> | undefined

  async function ask(): Promise<string> {
    const read = answered(await post(account, assertion(account, clock.now())))
    kept = { token: read.access_token, until: clock.now() + read.expires_in * 1000 - REFRESH_BEFORE_MS }
    return kept.token
  }

  return async (refused) => {
    if (kept !== undefined && kept.token !== refused && kept.until > clock.now()) return kept.token
    asking ??= ask().finally(() => {
      asking = undefined
    })
    return asking
  }
}

function assertion({ email, key, keyId, tokenUrl }: ServiceAccount, nowMs: number): string {
  const iat = Math.floor(nowMs / 1000) - SKEW_SECONDS
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const head = part({ alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
  const claims = part({ iss: email, scope: SCOPE, aud: tokenUrl, iat, exp: iat + LIFETIME_SECONDS })
  return `${head}.${claims}.${sign('RSA-SHA256', Buffer.from(`${head}.${claims}`), key).toString('base64url')}`
}

async function post({ tokenUrl }: ServiceAccount, jwt: string): Promise<unknown> {
  const { origin, pathname, search } = new URL(tokenUrl)
  const pool = new Pool(origin, { connections: 1, connect: { timeout: TIMEOUT_MS } })
  try {
    const { status, body } = await exchange(pool, {
      ...{ method: 'POST', path: pathname + search, doing: DOING, timeoutMs: TIMEOUT_MS },
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT, assertion: jwt }).toString(),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await readBody(body, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, doing: DOING })
    if (status === 200) return parsed(text)
    const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429
    throw isRefused
      ? new ProviderError('rejected', `${DOING}: Google refused APPLICATION_CREDENTIALS (${status})`)
      : new ProviderError('unavailable', `${DOING}: Google answered ${status}`)
  } finally {
    await pool.destroy()
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new ProviderError('unavailable', `${DOING}: the answer could not be read`)
  }
}
