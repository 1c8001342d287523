import { GuardError } from '../../net/index.ts'
import { OutboundError, type OutboundFailure } from './contract.ts'

/** Marks what failed before anything was sent. */
export class ConnectFailure extends Error {
  override name = 'ConnectFailure'
  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

/** Codes of the network itself; any other failure of an https connection is TLS's. */
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

const SENTENCES: Record<OutboundFailure, string> = {
  dns: 'The name of the host does not resolve.',
  refused_address: 'The address may not be used.',
  connect: 'The connection could not be made',
  tls: 'The connection could not be secured',
  timeout: 'There was no complete answer in time.',
  reset: 'The connection was closed before the answer was complete',
  protocol: 'The answer was not valid HTTP',
}

/** One error for everything that may happen; what is not of the network is taken for bad HTTP. */
export function outboundError(error: unknown, isTls: boolean): OutboundError {
  if (error instanceof OutboundError) return error
  if (error instanceof GuardError) {
    const kind = error.reason === 'refused' ? 'refused_address' : 'dns'
    return new OutboundError(kind, kind === 'dns' ? SENTENCES.dns : error.message, { cause: error })
  }
  if (error instanceof ConnectFailure) {
    const code = codeOf(error.cause)
    return failure(NETWORK.has(code) || !isTls ? 'connect' : 'tls', code, error.cause)
  }
  const code = codeOf(error)
  return failure(RESET.has(code) ? 'reset' : 'protocol', code, error)
}

export function timeoutError(): OutboundError {
  return new OutboundError('timeout', SENTENCES.timeout)
}

function failure(kind: OutboundFailure, code: string, cause: unknown): OutboundError {
  return new OutboundError(kind, `${SENTENCES[kind]}${code === '' ? '' : ` (${code})`}.`, { cause })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
