import { AppError, invalid } from '../../../platform/errors/app-error.ts'
import { isEmailAddress } from '../../../platform/formats/email-address.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'
import type { TextKey } from '../../../ui/hosted/index.ts'
import type { LinkedMailbox } from '../../index.ts'
import type { Detection } from '../detection/detection.ts'
import type { MailSignIns } from '../detection/mail-sign-ins.ts'
import { findImapMailbox } from '../imap/reconnecting.ts'
import type { Consents } from '../oauth/consents.ts'
import type { AuthSessions } from '../sessions/service.ts'
import type { AuthSession } from '../sessions/store.ts'

export interface ChoiceDeps {
  sessions: Pick<AuthSessions, 'reconnects'>
  consents: Consents
  detection: Detection
  mailSignIns: MailSignIns
}

/** `message` is for JSON, `text` for the page. */
type Choice = { provider: ProviderName } | { error: { message: string; text: TextKey } }

/** The provider that the user picked, that the session is limited to, or that hosts the address. */
export async function chooseProvider(
  { consents, detection, mailSignIns }: ChoiceDeps,
  session: AuthSession,
  picked: unknown,
  email: string,
): Promise<Choice> {
  const { connectable } = consents
  if (email !== '' && !isEmailAddress(email)) {
    return failed('must be an email address', 'invalid.address')
  }
  if (typeof picked === 'string' && picked !== '') {
    const provider = connectable.find((name) => name === picked)
    if (provider === undefined) throw invalid('body.provider', `must be one of: ${connectable.join(', ')}`)
    return { provider }
  }
  if (session.providerFixed && session.provider !== null) {
    const isAddressMissing = session.provider === 'imap' && email === ''
    return isAddressMissing ? failed('is required', 'invalid.noAddress') : { provider: session.provider }
  }
  if (email === '') {
    return connectable.length === 1
      ? failed('is required', 'invalid.noAddress')
      : failed('or body.provider is required', 'invalid.noChoice')
  }
  if (mailSignIns.findListed(email) !== undefined) return { provider: 'imap' }
  const detected = await detection.detectProvider(email)
  return { provider: connectable.includes(detected) ? detected : 'imap' }
}

/** The mailbox that the session reconnects. Of several with one address, the one whose user needs no password. */
export async function findReconnected(
  { sessions, consents }: ChoiceDeps,
  session: AuthSession,
): Promise<LinkedMailbox | undefined> {
  const mailboxes = await sessions.reconnects(session)
  const byConsent = mailboxes.find(({ provider }) => provider !== 'imap' && consents.connectable.includes(provider))
  return byConsent ?? findImapMailbox(mailboxes) ?? mailboxes[0]
}

/** Throws consent_refused when the provider of a session was configured once and no longer is. */
export function requireConnectable({ connectable }: Consents, provider: ProviderName): void {
  if (connectable.includes(provider)) return
  throw new AppError('consent_refused', { message: 'The provider of this session is no longer configured.' })
}

function failed(message: string, text: TextKey) {
  return { error: { message, text } }
}
