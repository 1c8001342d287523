import { isTimeout } from '../../../platform/concurrency/abort.ts'
import { retryAfterMs } from '../../../platform/concurrency/retry.ts'
import { isCertificateError } from '../../../platform/errors/certificate-errors.ts'
import { certificateProblem } from '../../../platform/errors/connection-problems.ts'
import { OutboundError, type OutboundResponse } from '../../../platform/outbound/index.ts'
import { ProviderError } from '../../contract/index.ts'

/** For sentences about the server. */
export type DavProtocol = 'CalDAV' | 'CardDAV'

export interface DavErrors {
  protocol: DavProtocol
  nowMs: number
  refusal: 'auth_expired' | 'rejected'
}

/** Maps a failure without a response, also of a caller whose time limit ended it. The address guard's sentence names the setting. */
export function networkError(error: unknown, doing: string, host: string, protocol: DavProtocol): unknown {
  if (isTimeout(error)) {
    const message = `${doing}: the ${protocol} server did not respond in time`
    return new ProviderError('unavailable', message, { cause: error, timedOut: true, host })
  }
  if (!(error instanceof OutboundError)) return error
  const { kind, message, code } = error
  const options = { cause: error, timedOut: kind === 'timeout', host }
  if (kind === 'refused_address') return new ProviderError('rejected', `${doing}: ${message}`, options)
  // A port that does not speak TLS may belong to no web server at all.
  const isInsecure = kind === 'tls' && isCertificateError(code)
  if (isInsecure) {
    return new ProviderError('tls', `${doing}: ${message}`, { ...options, problem: certificateProblem(code) })
  }
  return new ProviderError('unavailable', `${doing}: ${message}`, options)
}

/** Maps an error status. The text of the body is left out: it may quote anything. */
export function statusError(
  { status, headers }: OutboundResponse,
  doing: string,
  { protocol, nowMs, refusal }: DavErrors,
): ProviderError {
  const header = headers['retry-after']
  const after = retryAfterMs(Array.isArray(header) ? header[0] : header, nowMs)
  const retry = after === undefined ? {} : { retryAfterMs: after }
  if (status === 401) {
    const message = `${doing}: the ${protocol} server refused the password`
    return new ProviderError(refusal, message, { passwordRefused: refusal === 'rejected' })
  }
  if (status === 404 || status === 410) return new ProviderError('not_found', `${doing}: not found`)
  if (status === 429) return new ProviderError('rate_limited', `${doing}: too many requests`, retry)
  if (status >= 400 && status < 500) {
    const message = `${doing}: the ${protocol} server refused the request (${status})`
    return new ProviderError('rejected', message, { denied: status === 403 })
  }
  return new ProviderError('unavailable', `${doing}: the ${protocol} server failed (${status})`, retry)
}
