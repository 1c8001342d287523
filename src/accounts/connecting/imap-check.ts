import { AppError, type ErrorDetail, invalid } from '../../platform/errors/app-error.ts'
import { GuardError } from '../../platform/net/index.ts'
import { type MailProvider, ProviderError, type RemoteFolder } from '../../providers/contract/index.ts'
import { connectionError } from './connection-error.ts'
import { verifyFurtherServers } from './further-servers.ts'
import { connectionPorts, type ImapConnection, parseImapConnection } from './imap-connection.ts'
import { type VerificationDeps, verification } from './verification.ts'

/** The value of FORM_PORTS: the ports that a visitor may enter in the hosted form. */
type FormPorts = 'any' | readonly number[]

/** Returns an error for each port that the hosted form does not accept, whatever the host. */
export function formPortErrors(connection: ImapConnection, allowed: FormPorts): ErrorDetail[] {
  if (allowed === 'any') return []
  const refused = connectionPorts(connection).filter(({ port }) => !allowed.includes(port))
  const message = `must use one of the ports ${allowed.join(', ')}`
  return [...new Set(refused.map(({ field }) => field))].map((field) => ({ path: `body.${field}`, message }))
}

interface VerifyImapDeps extends VerificationDeps {
  mail: Pick<MailProvider, 'verify'>
  /** The account is linked next: keeps the connection for its sync. */
  keepConnection?: boolean
}

/**
 * Logs in, checks the folder and disconnects (or keeps the connection). Returns the folders. Throws `imap_auth_failed`, `imap_unreachable`
 * or `imap_tls`, `validation_failed` when only the folder is wrong, and as `verification`.
 */
export async function verifyImap(
  { mail, keepConnection = false, ...deps }: VerifyImapDeps,
  { email, settings, secrets }: ImapConnection,
): Promise<RemoteFolder[]> {
  const access = { accountId: 'unsaved', email, settings, secrets }
  const verify = (signal: AbortSignal) => mail.verify(access, signal, { keepConnection })
  return (await verification(deps, settings.imap.host, verify, imapFailure)).folders
}

/** The functions of a page that signs in at a mail server. */
export const imapSignIn = {
  parse: parseImapConnection,
  portErrors: formPortErrors,
  verify: verifyImap,
  verifyFurther: verifyFurtherServers,
}

const MAIL_SERVER = { name: 'The mail server', field: 'host' } as const

function imapFailure(error: unknown): unknown {
  if (error instanceof GuardError) return new AppError('imap_unreachable', { cause: error })
  if (!(error instanceof ProviderError)) return error
  switch (error.kind) {
    case 'auth_expired':
      return connectionError('imap_auth_failed', MAIL_SERVER, error)
    case 'tls':
      return connectionError('imap_tls', MAIL_SERVER, error)
    case 'not_found':
      return invalid('body.mailbox', 'does not exist on the mail server')
    default:
      return new AppError('imap_unreachable', { cause: error })
  }
}
