import { AppError, invalid } from '../../platform/errors/app-error.ts'
import { asciiEmail } from '../../platform/formats/email-address.ts'
import type { LoginProvider } from '../../providers/contract/index.ts'
import { type MailProvider, ProviderError, type ProviderName } from '../../providers/contract/index.ts'
import type { MailLogin } from '../../providers/mail-oauth/index.ts'
import type { LinkAccount } from '../identity/account.ts'
import { verifiedMailAccount } from './mail-oauth.ts'
import { checkMailbox } from './mailbox-check.ts'

/** The settings that configure each OAuth provider. */
export const OAUTH_SETTINGS = {
  gmail: 'GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET',
  microsoft: 'MICROSOFT_CLIENT_ID and MICROSOFT_CLIENT_SECRET',
} as const

/** A request to connect a mailbox with a refresh token. */
interface OAuthImport {
  provider: Exclude<ProviderName, 'imap'>
  refreshToken: string
  email: string | undefined
  customUserId: string | null
}

/**
 * Uses the refresh token, which must belong to this service's OAuth client, and returns the account to link. The result
 * holds the new refresh token if the provider rotated it. Throws validation_failed, provider_rejected,
 * provider_unavailable, provider_timeout.
 */
export async function verifiedImport(
  { login, mail }: { login: LoginProvider; mail: Pick<MailProvider, 'verify' | 'closeConnections'> | undefined },
  input: OAuthImport,
): Promise<LinkAccount> {
  const { provider, refreshToken, email, customUserId } = input
  try {
    const tokens = await login.refresh(refreshToken)
    const user = await login.identify?.(tokens.accessToken)
    if (user === undefined) throw new TypeError(`The login of ${provider} identifies nobody.`)
    if (email !== undefined && asciiEmail(email).toLowerCase() !== asciiEmail(user.email).toLowerCase()) {
      throw invalid('body.email', 'is not the address of the user of this token')
    }
    const accessToken = async () => tokens.accessToken
    if (mail !== undefined) await checkMailbox(mail, { email: user.email, settings: {}, accessToken })
    return {
      provider,
      customUserId,
      email: user.email,
      providerUser: user.id,
      settings: {},
      secrets: {},
      tokens: { refreshToken, ...tokens },
    }
  } catch (error) {
    throw importFailure(error)
  }
}

/** The same for a mailbox at a mail server, which decides whether the token is for the address. Throws `imap_auth_failed`, too. */
export async function verifiedMailImport(
  { provider, login }: MailLogin,
  mail: Pick<MailProvider, 'verify' | 'closeConnections'>,
  { refreshToken, email, customUserId }: { refreshToken: string; email: string; customUserId: string | null },
): Promise<LinkAccount> {
  const issued = await login.refresh(refreshToken).catch((error: unknown) => {
    throw importFailure(error)
  })
  const tokens = { refreshToken, ...issued }
  try {
    return { ...(await verifiedMailAccount(mail, { provider, email, tokens })), customUserId }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    throw new AppError(error.kind === 'auth_expired' ? 'imap_auth_failed' : 'imap_unreachable', { cause: error })
  }
}

function importFailure(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  const options = { cause: error, message: `${error.message}.` }
  if (error.missingScope) return invalid('body.refreshToken', 'does not give access to messages')
  if (error.foreignToken) return invalid('body.refreshToken', 'was issued to another OAuth client')
  if (error.kind === 'auth_expired') return invalid('body.refreshToken', 'is refused by the provider')
  if (error.kind === 'rejected') return new AppError('provider_rejected', options)
  return new AppError(error.timedOut ? 'provider_timeout' : 'provider_unavailable', options)
}
