import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import * as Type from 'typebox'
import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import { Pool } from '../../../platform/net/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { ProviderError } from '../../contract/index.ts'
import { signedJwt } from '../oauth/index.ts'
import { exchange, parser, readJson, statusError } from '../rest/index.ts'

/** The Google service account that reads the subscription. */
export interface ServiceAccount {
  email: string
  project: string
  /** A key object: it signs, and printing it shows no key material. */
  key: KeyObject
  keyId: string | undefined
  tokenUrl: string
}

const TOKEN_URL = 'https://oauth2.googleapis.com/token'

const parseKeyFile = parser(
  Type.Object({
    type: Type.Literal('service_account'),
    project_id: Type.String({ minLength: 1 }),
    client_email: Type.String({ minLength: 3 }),
    private_key: Type.String(),
    private_key_id: Type.Optional(Type.String()),
    token_uri: Type.Optional(Type.String()),
  }),
)

/** Reads the key file that Google issues for a service account. Errors quote no part of it. */
export async function readCredentials(pathOrJson: string): Promise<ServiceAccount> {
  const json = pathOrJson.trimStart().startsWith('{') ? pathOrJson : await readKeyFile(pathOrJson)
  try {
    const file = parseKeyFile(JSON.parse(json))
    const { client_email: email, project_id: project, private_key_id: keyId, token_uri: tokenUrl = TOKEN_URL } = file
    const { protocol } = new URL(tokenUrl)
    if (protocol !== 'https:' && protocol !== 'http:') throw new Error('unsupported scheme')
    return { email, project, keyId, tokenUrl, key: createPrivateKey(file.private_key) }
  } catch (error) {
    rethrowProgrammingError(error)
    throw new ProviderError('rejected', 'APPLICATION_CREDENTIALS is not the JSON key of a service account')
  }
}

async function readKeyFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new ProviderError('rejected', 'APPLICATION_CREDENTIALS names a file that cannot be read', { cause })
  }
}

const SCOPE = 'https://www.googleapis.com/auth/pubsub'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const LIFETIME_SECONDS = 3600
/** Google refuses an assertion that was issued in the future by its clock. */
const SKEW_SECONDS = 30
const REFRESH_BEFORE_MS = 120_000
const TIMEOUT_MS = 10_000
const MAX_BYTES = 64 * 1024
const DOING = 'signing in as the service account'

const parseToken = parser(Type.Object({ access_token: Type.String({ minLength: 1 }), expires_in: Type.Number() }))

/** Returns access tokens of the service account (RFC 7523): cached until shortly before they expire, one request at a time. */
export function serviceToken(account: ServiceAccount, clock: Clock): (refused?: string) => Promise<string> {
  let cached: { token: string; until: number } | undefined
  let pending: Promise<string> | undefined

  async function requestToken(): Promise<string> {
    const response = parseToken(await post(account, clock.now()))
    const until = clock.now() + response.expires_in * 1000 - REFRESH_BEFORE_MS
    cached = { token: response.access_token, until }
    return cached.token
  }

  return async (refused) => {
    if (cached !== undefined && cached.token !== refused && cached.until > clock.now()) return cached.token
    pending ??= requestToken().finally(() => {
      pending = undefined
    })
    return pending
  }
}

function assertion({ email, key, keyId, tokenUrl }: ServiceAccount, nowMs: number): string {
  const iat = Math.floor(nowMs / 1000) - SKEW_SECONDS
  const claims = { iss: email, scope: SCOPE, aud: tokenUrl, iat, exp: iat + LIFETIME_SECONDS }
  return signedJwt({ alg: 'RS256', ...(keyId !== undefined && { kid: keyId }) }, claims, key)
}

async function post(account: ServiceAccount, nowMs: number): Promise<unknown> {
  const { tokenUrl } = account
  const { origin, hostname: host, pathname, search } = new URL(tokenUrl)
  const pool = new Pool(origin, { connections: 1, connect: { timeout: TIMEOUT_MS } })
  try {
    const { status, headers, body } = await exchange(pool, {
      method: 'POST',
      path: pathname + search,
      doing: DOING,
      host,
      timeoutMs: TIMEOUT_MS,
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT, assertion: assertion(account, nowMs) }).toString(),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    if (status === 200) return await readJson(body, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, doing: DOING, host })
    const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429
    if (isRefused) throw new ProviderError('rejected', `${DOING}: Google refused APPLICATION_CREDENTIALS (${status})`)
    throw statusError({ status, headers, body: undefined }, DOING, nowMs)
  } finally {
    await pool.destroy()
  }
}
