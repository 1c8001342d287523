import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { AppError, type ErrorDetail } from '../../../platform/errors/app-error.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { MailProvider, RemoteFolder } from '../../../providers/contract/index.ts'
import { type Account, type ImapField, type ImapFields, imapSignIn, type VerificationLimit } from '../../index.ts'
import type { AdmittedPost } from '../hosted/access.ts'
import type { AuthSessions } from '../sessions/service.ts'

type ImapConnection = Parameters<typeof imapSignIn.verify>[1]

export interface SignInDeps {
  sessions: AuthSessions
  imap: Pick<MailProvider, 'verify'>
  /** Checks the servers that come with an IMAP mailbox. */
  further: Pick<Parameters<typeof imapSignIn.verifyFurther>[0], 'smtp' | 'caldav'>
  verifications: VerificationLimit
  /** FORM_PORTS. */
  formPorts: Parameters<typeof imapSignIn.portErrors>[1]
  clock: Clock
  /** When the form reports an unreachable server, counted from the submit. Default: after the longest check. */
  unreachableMs?: number
  log: Log
}

/** Later than the check of a server that does not respond. */
const UNREACHABLE_MS = 10_500
const UNREACHABLE: ReadonlySet<string> = new Set(['imap_unreachable', 'smtp_unreachable', 'caldav_unreachable'])

/**
 * Signs in and checks the folder; when linking, also at the SMTP and the CalDAV server. A failed sign-in uses up an attempt and is
 * recorded with the session.
 */
export async function signIn(
  deps: SignInDeps,
  request: FastifyRequest,
  { code, session }: AdmittedPost,
  fields: ImapFields,
  { optional = [], isLinking = false }: { optional?: ImapField[]; isLinking?: boolean },
): Promise<{ connection: ImapConnection; folders: RemoteFolder[] }> {
  const { sessions, imap, further, verifications, formPorts, clock, log } = deps
  const { unreachableMs = UNREACHABLE_MS } = deps
  const { connection, errors } = imapSignIn.parse(fields, { optional })
  if (connection === undefined) throw invalidFields(errors)
  const portErrors = imapSignIn.portErrors(connection, formPorts)
  if (portErrors.length > 0) {
    log.info('The hosted form refused a port that FORM_PORTS does not contain.', {
      operation: 'auth.imap',
      provider: 'imap',
      requestId: request.id,
      metadata: { fields: portErrors.map(({ path }) => path) },
    })
    throw invalidFields(portErrors)
  }
  await sessions.takeAttempt(code, session)
  const begunMs = clock.monotonic()
  // A closed port fails at once and a silent one late. The same delay for both keeps the form from scanning ports.
  const onBegin = () => {
    const startedMs = clock.monotonic()
    return async (error: unknown) => {
      const isUnreachable = error instanceof AppError && UNREACHABLE.has(error.code)
      if (isUnreachable && formPorts !== 'any') await sleep(Math.max(0, startedMs + unreachableMs - clock.monotonic()))
    }
  }
  try {
    const limited = { verifications, address: request.ip, onBegin }
    const folders = await imapSignIn.verify({ mail: imap, ...limited, keepConnection: isLinking }, connection)
    if (isLinking) await imapSignIn.verifyFurther({ ...further, ...limited }, connection)
    await sessions.returnAttempt(session)
    return { connection, folders }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // The password was right and only the folder was wrong, or nothing was tried.
    if (error.code === 'validation_failed' || error.code === 'rate_limited') await sessions.returnAttempt(session)
    if (error.code === 'rate_limited') throw error
    await sessions.fail(session, error.code, error.details[0]?.code)
    log.info(`Sign-in to a mail server failed: ${error.code}`, {
      operation: 'auth.imap',
      provider: 'imap',
      requestId: request.id,
      durationMs: clock.monotonic() - begunMs,
      error: error.cause,
      metadata: { code: error.code, reason: error.details[0]?.code },
    })
    throw error
  }
}

/** Links the account. When that fails, as with a full licence, the session stays open and records why. */
export async function link(
  { sessions, log }: Pick<SignInDeps, 'sessions' | 'log'>,
  request: FastifyRequest,
  { code, session }: AdmittedPost,
  connection: ImapConnection,
): Promise<Account> {
  try {
    const account = await sessions.link(code, session, { ...connection, provider: 'imap' })
    log.info('A user signed in to a mail server.', {
      accountId: account.id,
      provider: 'imap',
      operation: 'auth.imap',
      requestId: request.id,
    })
    return account
  } catch (error) {
    if (error instanceof AppError) await sessions.fail(session, error.code)
    throw error
  }
}

function invalidFields(details: ErrorDetail[]): AppError {
  const message = details.map((detail) => `${detail.path} ${detail.message}`).join('; ')
  return new AppError('validation_failed', { message: `${message}.`, details })
}
