import { allEnded } from '../../../platform/concurrency/all-ended.ts'
import { concurrencyLimit } from '../../../platform/concurrency/limit.ts'
import { type MailProvider, ProviderError, type TokenSet } from '../../../providers/contract/index.ts'
import { oauthMailboxes } from '../../index.ts'

/** Graph accepts four requests at once for a mailbox; these are for several, with one token. */
const AT_ONCE = 4

/** `refused`: the user may not open it, or it does not exist; Graph does not say which. `unavailable`: Graph did not say. */
export type CheckResult = 'opened' | 'refused' | 'unavailable'

/** Opens each mailbox once with the tokens of the user. Throws `ProviderError` when the provider refuses the tokens themselves. */
export async function checkAddresses(
  mail: Pick<MailProvider, 'verify' | 'closeConnections'>,
  { accessToken }: Pick<TokenSet, 'accessToken'>,
  addresses: readonly string[],
): Promise<Map<string, CheckResult>> {
  const limited = concurrencyLimit(AT_ONCE)
  const getToken = async (refused?: string) => {
    if (refused === undefined) return accessToken
    throw new ProviderError('auth_expired', 'the provider refuses the token of this sign-in')
  }
  const results = await allEnded(addresses.map((email) => limited(() => check(mail, email, getToken))))
  return new Map(addresses.map((email, index) => [email, results[index] ?? 'unavailable']))
}

async function check(
  mail: Pick<MailProvider, 'verify' | 'closeConnections'>,
  email: string,
  getToken: (refused?: string) => Promise<string>,
): Promise<CheckResult> {
  try {
    await oauthMailboxes.openShared(mail, email, getToken)
    return 'opened'
  } catch (error) {
    if (!(error instanceof ProviderError) || isTokenRefused(error)) throw error
    return error.kind === 'rejected' || error.kind === 'not_found' ? 'refused' : 'unavailable'
  }
}

/** The check of a mailbox explains a refused token as a user without a mailbox. */
function isTokenRefused(error: ProviderError): boolean {
  return error.kind === 'auth_expired' || (error.cause instanceof ProviderError && isTokenRefused(error.cause))
}
