import { errorCode } from '../errors/describe-error.ts'
import { isProgrammingError } from '../errors/programming-errors.ts'
import { GuardError } from '../net/index.ts'
import { OutboundError, type OutboundFailure } from './contract.ts'

/** A failure before anything was sent. */
export class ConnectFailure extends Error {
  override name = 'ConnectFailure'
  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

/** Codes of network failures. Any other failure to connect by https is a TLS failure. */
const NETWORK = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
  'EINVAL',
  'EMFILE',
  'ENFILE',
  'UND_ERR_CONNECT_TIMEOUT',
])
const RESET = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'UND_ERR_SOCKET',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
])

const MESSAGES: Record<OutboundFailure, string> = {
  dns: 'The host name does not resolve.',
  refused_address: 'The address is not allowed.',
  connect: 'The connection failed',
  tls: 'The TLS handshake failed',
  timeout: 'No complete response arrived in time.',
  reset: 'The connection was closed before the response was complete',
  protocol: 'The response is not valid HTTP',
}

/** Converts any failure of a request, except a programming error. An error without a network code counts as invalid HTTP. */
export function outboundError(error: unknown, isTls: boolean): unknown {
  if (error instanceof OutboundError || isProgrammingError(error)) return error
  if (error instanceof GuardError) {
    const kind = error.reason === 'refused' ? 'refused_address' : 'dns'
    return new OutboundError(kind, kind === 'dns' ? MESSAGES.dns : error.message, { cause: error })
  }
  if (error instanceof ConnectFailure) {
    const code = errorCode(error.cause)
    return failure(NETWORK.has(code) || !isTls ? 'connect' : 'tls', code, error.cause)
  }
  const code = errorCode(error)
  return failure(RESET.has(code) ? 'reset' : 'protocol', code, error)
}

export function timeoutError(): OutboundError {
  return new OutboundError('timeout', MESSAGES.timeout)
}

function failure(kind: OutboundFailure, code: string, cause: unknown): OutboundError {
  return new OutboundError(kind, `${MESSAGES[kind]}${code === '' ? '' : ` (${code})`}.`, { cause, code })
}
