import { GuardError } from '../../../infra/net/index.ts'
import { withTimeout } from '../../../lib/abort.ts'
import { AppError, type ErrorDetail, invalid } from '../../../lib/errors.ts'
import { type MailProvider, ProviderError, type RemoteFolder } from '../../../providers/contract/index.ts'
import { connectionPorts, type ImapConnection } from './imap-connection.ts'
import type { VerificationLimit } from './verification-limit.ts'

const VERIFY_MS = 10_000

/** The value of FORM_PORTS: the ports that a visitor may enter in the hosted form. */
export type FormPorts = 'any' | readonly number[]

/** Returns an error for each port that the hosted form does not accept, whatever the host. */
export function formPortErrors(connection: ImapConnection, allowed: FormPorts): ErrorDetail[] {
  if (allowed === 'any') return []
  return connectionPorts(connection)
    .filter(({ port }) => !allowed.includes(port))
    .map(({ field }) => ({ path: `body.${field}`, message: `must use one of the ports ${allowed.join(', ')}` }))
}

export interface VerifyDeps {
  mail: Pick<MailProvider, 'verify'>
  verifications: VerificationLimit
  /** The client's address, for requests from anybody. */
  address?: string
  /** The account is linked next: keeps the connection for its sync. */
  keepConnection?: boolean
  /** Awaited before a failure is thrown, while the verification still counts as running. */
  beforeFailing?(failure: unknown): Promise<void>
}

/**
 * Logs in, checks the folder and disconnects (or keeps the connection), within 10 s. Returns the folders. Throws `imap_auth_failed`, `imap_unreachable` or
 * `imap_tls`, `validation_failed` when only the folder is wrong, and `rate_limited` when too many verifications are in progress.
 */
export function verifyImap(
  { mail, verifications, address, keepConnection = false, beforeFailing }: VerifyDeps,
  connection: ImapConnection,
  timeoutMs = VERIFY_MS,
): Promise<RemoteFolder[]> {
  // An application that imports its users' accounts may check many of one host at once.
  const keys = address === undefined ? [] : [`host ${connection.settings.imap.host}`, `address ${address}`]
  return verifications.run(keys, async () => {
    try {
      return await verified(mail, connection, { timeoutMs, keepConnection })
    } catch (error) {
      await beforeFailing?.(error)
      throw error
    }
  })
}

async function verified(
  mail: Pick<MailProvider, 'verify'>,
  connection: ImapConnection,
  { timeoutMs, keepConnection }: { timeoutMs: number; keepConnection: boolean },
): Promise<RemoteFolder[]> {
  const { email, settings, secrets } = connection
  const abort = new AbortController()
  try {
    const access = { accountId: 'unsaved', email, settings, secrets }
    const verifying = mail.verify(access, abort.signal, { keepConnection })
    const late = () => new ProviderError('unavailable', `no response within ${timeoutMs} ms`, { timedOut: true })
    return (await withTimeout(verifying, timeoutMs, late)).folders
  } catch (error) {
    throw imapFailure(error)
  } finally {
    abort.abort()
  }
}

/** The public error. Its cause, which the log shows, has the details. */
function imapFailure(error: unknown): unknown {
  if (error instanceof GuardError) return new AppError('imap_unreachable', { cause: error })
  if (!(error instanceof ProviderError)) return error
  switch (error.kind) {
    case 'auth_expired':
      return new AppError('imap_auth_failed', { cause: error })
    case 'tls':
      return new AppError('imap_tls', { cause: error })
    case 'not_found':
      return invalid('body.mailbox', 'does not exist on the mail server')
    default:
      return new AppError('imap_unreachable', { cause: error })
  }
}
