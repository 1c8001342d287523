import { randomBytes } from 'node:crypto'
import { type Clock, clockAhead } from '../../../platform/time/clock.ts'
import type { ClientProbe, RedirectProbe } from '../../contract/index.ts'
import { ProviderError } from '../../contract/index.ts'
import { parseErrorCode, REFUSED_CLIENT } from './errors.ts'
import { networkError } from './limited-fetch.ts'

interface ProbeOptions {
  /** For errors: `Google`. */
  service: string
  clientId: string
  clientSecret?: string | undefined
  clientAuthentication?: 'body' | 'header'
  authUrl: string
  tokenUrl: string
  scopes: readonly string[]
  redirectUri: string
  clock: Clock
}

const TIMEOUT_MS = 8000
/** The resolution of a Date header. */
const DATE_MS = 1000
const MAX_BYTES = 256 * 1024

const REFUSED = [...REFUSED_CLIENT, 'unauthorized_client']
/** A provider judges the code and the address only for a client that it knows. */
const ACCEPTED = ['invalid_grant', 'redirect_uri_mismatch']

/** Requests a token with a code that nobody issued. */
export async function probeClient(options: ProbeOptions): Promise<ClientProbe> {
  const { clientId, clientSecret, clientAuthentication = 'body', redirectUri } = options
  const inHeader = clientSecret !== undefined && clientAuthentication === 'header'
  const { text, clockAheadMs } = await send(options, options.tokenUrl, {
    method: 'POST',
    ...(inHeader && { headers: { authorization: basicCredentials(clientId, clientSecret) } }),
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: 'invalid-code-of-a-check',
      code_verifier: randomText(),
      ...(!inHeader && { client_id: clientId }),
      ...(clientSecret !== undefined && !inHeader && { client_secret: clientSecret }),
      redirect_uri: redirectUri,
    }),
  })
  const { error, code } = parseErrorCode(text)
  const client = REFUSED.includes(error) ? 'refused' : ACCEPTED.includes(error) ? 'accepted' : 'unclear'
  return { client, code, ...(clockAheadMs !== undefined && { clockAheadMs }) }
}

/** RFC 6749, 2.3.1: each part is encoded as in a form. */
function basicCredentials(clientId: string, clientSecret: string): string {
  const [id, secret] = [clientId, clientSecret].map((text) => new URLSearchParams({ '': text }).toString().slice(1))
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
}

/** The texts in which Google, Microsoft, oidc-provider and Keycloak name an address that is not registered. */
const MISMATCH =
  /redirect_uri_mismatch|AADSTS50011\b|AADSTS900971\b|invalid_redirect_uri|Invalid parameter: redirect_uri/

/** Requests an authorization that must not show a page: an error goes to the redirect address, if that is registered. */
export async function probeRedirect(options: ProbeOptions): Promise<RedirectProbe> {
  const { authUrl, clientId, redirectUri, scopes } = options
  const url = new URL(authUrl)
  const query = {
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state: randomText(),
    // Belongs to no verifier: no code is ever exchanged.
    code_challenge: randomText(),
    code_challenge_method: 'S256',
    prompt: 'none',
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  const { status, text, location } = await send(options, url.href, { method: 'GET' })
  if (status === 404 || status === 410) throw new ProviderError('not_found', `there is no page at its URL (${status})`)
  if (status >= 500) throw new ProviderError('unavailable', `${options.service} failed (${status})`)
  if (MISMATCH.test(text) || MISMATCH.test(location) || MISMATCH.test(readAuthError(location))) return 'refused'
  const [address] = location.split(/[?#]/)
  return address === redirectUri && /[?&#]error=/.test(location) ? 'registered' : 'unknown'
}

/** Google redirects to an error page with the name of the error in base64. */
function readAuthError(location: string): string {
  const encoded = URL.canParse(location) ? new URL(location).searchParams.get('authError') : null
  return Buffer.from(encoded ?? '', 'base64').toString('latin1')
}

async function send(
  { service, clock }: ProbeOptions,
  url: string,
  init: { method: string; headers?: Record<string, string>; body?: URLSearchParams },
): Promise<{ status: number; text: string; location: string; clockAheadMs: number | undefined }> {
  const startedMs = clock.now()
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
    const endedMs = clock.now()
    const dateMs = Date.parse(response.headers.get('date') ?? '')
    return {
      status: response.status,
      text: await readBeginning(response),
      location: response.headers.get('location') ?? '',
      clockAheadMs: Number.isNaN(dateMs) ? undefined : clockAhead(dateMs, startedMs, endedMs, DATE_MS),
    }
  } catch (error) {
    throw networkError(service, error)
  }
}

/** Pages of providers may be long, and name the error in their head. */
async function readBeginning(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

const randomText = () => randomBytes(32).toString('base64url')
