import type { ErrorCode } from '../../platform/errors/app-error.ts'
import { ProviderError, type ServerCheck } from '../../providers/contract/index.ts'
import { type CheckedServer, connectionError } from './connection-error.ts'
import type { ImapConnection } from './imap-connection.ts'
import { type VerificationDeps, verification } from './verification.ts'

/** Checks the servers beside the mail server. */
export interface FurtherServers {
  smtp: ServerCheck
  caldav: ServerCheck
}

/**
 * Signs in at the SMTP server and then at the CalDAV server, if the user entered anything about them. Otherwise they are found when
 * they are needed first. Throws `smtp_auth_failed`, `smtp_unreachable`, `smtp_tls`, the same with `caldav`, and as `verification`.
 */
export async function verifyFurtherServers(
  { smtp, caldav, ...deps }: FurtherServers & VerificationDeps,
  { email, settings, secrets }: ImapConnection,
): Promise<void> {
  const access = { accountId: 'unsaved', email, settings, secrets }
  if (settings.smtp !== undefined || secrets.smtpPassword !== undefined) {
    const host = settings.smtp?.host ?? settings.imap.host
    await verification(deps, host, (signal) => smtp.verify(access, signal), publicError(SMTP_ERRORS, SMTP_SERVER))
  }
  if (settings.caldav !== undefined) {
    const { hostname } = new URL(settings.caldav.url)
    await verification(
      deps,
      hostname,
      (signal) => caldav.verify(access, signal),
      publicError(CALDAV_ERRORS, CALDAV_SERVER),
    )
  }
}

type Codes = Readonly<Record<'auth_expired' | 'tls' | 'other', ErrorCode>>

const SMTP_ERRORS: Codes = { auth_expired: 'smtp_auth_failed', tls: 'smtp_tls', other: 'smtp_unreachable' }
const CALDAV_ERRORS: Codes = { auth_expired: 'caldav_auth_failed', tls: 'caldav_tls', other: 'caldav_unreachable' }

const SMTP_SERVER = { name: 'The SMTP server', field: 'smtpHost' } as const
const CALDAV_SERVER = { name: 'The CalDAV server', field: 'caldavUrl' } as const

const publicError = (codes: Codes, server: CheckedServer) => (cause: unknown) => {
  if (!(cause instanceof ProviderError)) return cause
  const { kind } = cause
  return connectionError(codes[kind === 'auth_expired' || kind === 'tls' ? kind : 'other'], server, cause)
}
