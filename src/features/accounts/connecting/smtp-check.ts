import { AppError } from '../../../lib/errors.ts'
import { ProviderError, type SendProvider } from '../../../providers/contract/index.ts'
import type { ImapConnection } from './imap-connection.ts'
import { type VerificationDeps, verification } from './verification.ts'

export interface VerifySmtpDeps extends VerificationDeps {
  smtp: Pick<SendProvider, 'verify'>
}

/**
 * Signs in at the SMTP server and disconnects, if the user entered anything about it. Otherwise the first message to send finds it. Throws
 * `smtp_auth_failed`, `smtp_unreachable` or `smtp_tls`, and as `verification`.
 */
export async function verifySmtp({ smtp, ...deps }: VerifySmtpDeps, connection: ImapConnection): Promise<void> {
  const { email, settings, secrets } = connection
  if (settings.smtp === undefined && secrets.smtpPassword === undefined) return
  const access = { accountId: 'unsaved', email, settings, secrets }
  const host = settings.smtp?.host ?? settings.imap.host
  await verification(deps, host, async (signal) => smtp.verify?.(access, signal), smtpFailure)
}

/** The public error. Its cause, which the log shows, has the details. */
function smtpFailure(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  switch (error.kind) {
    case 'auth_expired':
      return new AppError('smtp_auth_failed', { cause: error })
    case 'tls':
      return new AppError('smtp_tls', { cause: error })
    default:
      return new AppError('smtp_unreachable', { cause: error })
  }
}
