import { untilAborted } from '../../../platform/concurrency/abort.ts'
import { type Outbound, OutboundError, type OutboundResponse } from '../../../platform/outbound/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { type MailAccess, ProviderError } from '../../contract/index.ts'
import { type DavErrors, type DavProtocol, networkError, statusError } from './errors.ts'
import { type DavDocument, parseDav } from './multistatus.ts'

/** What the account signs in with. Never log it. */
type DavCredentials = { username: string; password: string } | Required<Pick<MailAccess, 'accessToken'>>

/** Reaches one server for one account. */
export interface DavClientOptions {
  protocol: DavProtocol
  outbound: Outbound
  clock: Clock
  accountId: string
  credentials: DavCredentials
  /** `auth_expired` where the user named the server. A server that was found need not know the password of the mailbox. */
  refusal: 'auth_expired' | 'rejected'
  /** Which hosts may receive the password, or the access token. */
  trusts(host: string): boolean
  /** True: they go over TLS only, wherever redirects and responses lead. */
  isSecure: boolean
  /** Limits one request, by default to 30 s. */
  timeoutMs?: number
  /** Limits one response, by default to 8 MB. */
  maxBytes?: number
}

export interface DavRequest {
  method: 'PROPFIND' | 'REPORT' | 'GET' | 'PUT' | 'DELETE'
  url: URL
  depth?: '0' | '1'
  body?: string
  /** For errors: `listing the calendars`. */
  doing: string
  signal: AbortSignal
  maxBytes?: number
  headers?: Record<string, string>
  /** Discovery asks without the password whether there is a server. */
  isAnonymous?: boolean
  /** Redirects to other hosts, which get no password, are followed. For files, which may be anywhere. */
  mayLeave?: boolean
}

export interface DavResponse extends OutboundResponse {
  /** Where redirects led. */
  url: URL
}

export interface DavClient {
  /** For `statusError`. */
  errors(): DavErrors
  /** Any response but a redirect. Rejects with `ProviderError` or the signal's reason. */
  send(request: DavRequest): Promise<DavResponse>
  /** The body of a multistatus, and where redirects led. Any other response is an error. */
  fetch(request: DavRequest): Promise<{ body: Buffer; url: URL }>
  /** A multistatus. Any other response is an error; `onError` may make another one of it. */
  read(
    request: DavRequest,
    onError?: (response: DavResponse, document: DavDocument) => ProviderError | undefined,
  ): Promise<DavDocument & { url: URL }>
}

const MAX_REDIRECTS = 5
const TIMEOUT_MS = 30_000
const MAX_BYTES = 8 * 1024 * 1024
/** Limit a request without a password, which may go to any web server. */
const ANONYMOUS_MS = 5000
const ANONYMOUS_BYTES = 64 * 1024

export function davClient(options: DavClientOptions): DavClient {
  const { protocol, outbound, clock, accountId, credentials, refusal, trusts, isSecure } = options

  /** A token that the server refuses is refreshed once. */
  async function exchange(request: DavRequest, url: URL): Promise<OutboundResponse> {
    if (request.isAnonymous) return exchangeOnce(request, url, undefined)
    if ('password' in credentials) {
      const { username, password } = credentials
      return exchangeOnce(request, url, `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`)
    }
    const token = await untilAborted(credentials.accessToken(), request.signal)
    const response = await exchangeOnce(request, url, `Bearer ${token}`)
    if (response.status !== 401) return response
    const fresh = await untilAborted(credentials.accessToken(token), request.signal)
    return exchangeOnce(request, url, `Bearer ${fresh}`)
  }

  async function exchangeOnce(
    request: DavRequest,
    url: URL,
    authorization: string | undefined,
  ): Promise<OutboundResponse> {
    const { method, depth, body, headers = {}, doing, signal, isAnonymous = false, maxBytes } = request
    const isRead = method === 'PROPFIND' || method === 'REPORT' || method === 'GET'
    const isTrusted = trusts(url.hostname) && (!isSecure || url.protocol === 'https:')
    if (!isAnonymous && !isTrusted) throw untrusted(url, doing)
    const send = () =>
      outbound.send({
        method,
        url: url.href,
        signal,
        connectionOwner: accountId,
        timeoutMs: isAnonymous ? ANONYMOUS_MS : (options.timeoutMs ?? TIMEOUT_MS),
        maxResponseBytes: maxBytes ?? (isAnonymous ? ANONYMOUS_BYTES : (options.maxBytes ?? MAX_BYTES)),
        headers: {
          ...(authorization !== undefined && { authorization }),
          ...(depth !== undefined && { depth }),
          ...(body !== undefined && { 'content-type': 'application/xml; charset=utf-8' }),
          ...headers,
          'user-agent': 'Posthorn',
        },
        ...(body !== undefined && { body }),
      })
    try {
      return await send().catch((error: unknown) => {
        // The server closed an idle connection as the request was sent.
        if (isRead && error instanceof OutboundError && error.kind === 'reset' && !signal.aborted) return send()
        throw error
      })
    } catch (error) {
      throw networkError(error, doing, url.hostname, protocol)
    }
  }

  async function send(request: DavRequest): Promise<DavResponse> {
    const { doing, mayLeave = false } = request
    let { url, isAnonymous = false } = request
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await exchange({ ...request, isAnonymous }, url)
      const target = findRedirect(response, url)
      if (target === undefined) return { ...response, url }
      // A password that was sent over TLS is not sent without it.
      const isPlain = url.protocol === 'https:' && target.protocol !== 'https:'
      if (isPlain && !mayLeave) throw untrusted(target, doing)
      isAnonymous ||= mayLeave && (isPlain || !trusts(target.hostname))
      url = target
    }
    throw new ProviderError('unavailable', `${doing}: the ${protocol} server redirects in circles`)
  }

  function untrusted(url: URL, doing: string): ProviderError {
    const [secret, remedy] =
      'password' in credentials
        ? ['the password', 'Enter the CalDAV URL if it is right.']
        : ['the access token', `Set it as ${protocol.toLowerCase()}Url in OAUTH_PROVIDERS if it is right.`]
    return new ProviderError(
      'rejected',
      `${doing}: the ${protocol} server refers to ${url.origin}, which does not receive ${secret}. ${remedy}`,
    )
  }

  const errors = () => ({ protocol, nowMs: clock.now(), refusal })

  async function sendComplete(request: DavRequest): Promise<DavResponse> {
    const response = await send(request)
    if (!response.truncated) return response
    throw new ProviderError('limit_exceeded', `${request.doing}: the response of the ${protocol} server is too large`)
  }

  return {
    errors,
    send,
    async fetch(request) {
      const response = await sendComplete(request)
      if (response.status === 207) return response
      throw notMultistatus(response, request.doing)
    },
    async read(request, onError) {
      const response = await sendComplete(request)
      const document = await parseDav(response.body, request.doing, request.signal)
      if (response.status === 207 && document.isCut) {
        throw new ProviderError('unavailable', `${request.doing}: the response of the ${protocol} server ends early`)
      }
      if (response.status === 207) return { ...document, url: response.url }
      throw onError?.(response, document) ?? notMultistatus(response, request.doing)
    },
  }

  function notMultistatus(response: DavResponse, doing: string): ProviderError {
    if (response.status >= 300) return statusError(response, doing, errors())
    return new ProviderError('unavailable', `${doing}: the response is not one of a ${protocol} server`)
  }
}

function findRedirect({ status, headers }: OutboundResponse, from: URL): URL | undefined {
  const { location } = headers
  const isRedirect = status === 301 || status === 302 || status === 303 || status === 307 || status === 308
  if (!isRedirect || typeof location !== 'string' || !URL.canParse(location, from.href)) return undefined
  return new URL(location, from)
}
