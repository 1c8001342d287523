import { AppError, type ErrorCode } from '../../platform/errors/app-error.ts'
import { CONNECTION_PROBLEMS } from '../../platform/errors/connection-problems.ts'
import type { ProviderError } from '../../providers/contract/index.ts'
import type { ImapField } from './imap-connection.ts'

/** A server that the user has entered. */
export interface CheckedServer {
  /** As in `The SMTP server`. */
  name: string
  /** The field with its host or URL. */
  field: ImapField
}

/**
 * The public error of a sign-in at a server, with a detail that says why, if that is certain. Its cause, which the log shows, has everything
 * else. Only errors that name the server as one that responds may say why: otherwise the form would explore networks.
 */
export function connectionError(code: ErrorCode, { name, field }: CheckedServer, cause: ProviderError): AppError {
  const { kind, problem } = cause
  if (problem === undefined || (kind !== 'tls' && kind !== 'auth_expired')) return new AppError(code, { cause })
  const { text, advice } = CONNECTION_PROBLEMS[problem]
  const details = [{ path: `body.${field}`, message: text, code: problem }]
  return new AppError(code, { message: `${name} ${text}. ${advice}`, details, cause })
}
