import { AppError, invalid } from '../../../lib/errors.ts'
import type { LoginProvider } from '../../../providers/contract/index.ts'
import { type MailProvider, ProviderError, type ProviderName } from '../../../providers/contract/index.ts'
import type { LinkAccount } from '../account.ts'
import { checkMailbox } from './mailbox-check.ts'

/** What came with a request to connect a mailbox by a refresh token. */
export interface OAuthImport {
  provider: Exclude<ProviderName, 'imap'>
  refreshToken: string
  email: string | undefined
  customUserId: string | null
}

/**
 * What to link, after the refresh token was used and the provider has said whose it is. It must be one of the client of this service.
 * A token that is replaced by its use lives on in the answer. Throws validation_failed, provider_rejected, provider_unavailable,
 * provider_timeout.
 */
export async function verifiedImport(
  { login, mail }: { login: LoginProvider; mail: Pick<MailProvider, 'verify' | 'closeConnections'> | undefined },
  given: OAuthImport,
): Promise<LinkAccount> {
  const { provider, refreshToken, email, customUserId } = given
  try {
    const tokens = await login.refresh(refreshToken)
    const user = await login.identify(tokens.accessToken)
    if (email !== undefined && email.toLowerCase() !== user.email.toLowerCase()) {
      throw invalid('body.email', 'is not the address of the user whose token this is')
    }
    if (mail !== undefined) await checkMailbox(mail, user.email, tokens)
    return {
      ...{ provider, customUserId, email: user.email, providerUser: user.id },
      ...{ settings: {}, secrets: {}, tokens: { refreshToken, ...tokens } },
    }
  } catch (error) {
    throw importFailure(error)
  }
}

function importFailure(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  const options = { cause: error, message: `${error.message}.` }
  if (error.missingScope) return invalid('body.refreshToken', 'does not give access to the mails')
  if (error.kind === 'auth_expired') return invalid('body.refreshToken', 'is refused by the provider')
  if (error.kind === 'rejected') return new AppError('provider_rejected', options)
  return new AppError(error.timedOut ? 'provider_timeout' : 'provider_unavailable', options)
}
