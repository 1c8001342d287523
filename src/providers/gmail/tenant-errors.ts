import { ProviderError, type TenantCredential } from '../contract/index.ts'
import type { TokenError } from '../shared/oauth/index.ts'

interface Refusal {
  /** Matches Google's sentence, where one code has several meanings. The sentence is never shown. */
  sentence?: RegExp
  error: string
  why: string
  credential?: TenantCredential
}

const NO_USER = 'the domain has no user with this address. Aliases and groups cannot be opened'

/** Google says this of valid assertions now and then, and accepts the next one. */
const TEMPORARY = /no valid verifier found/i

/** What Google's token endpoint says to assertions of a service account. The first that matches. */
const REFUSALS: readonly Refusal[] = [
  {
    error: 'unauthorized_client',
    why: 'the administrator of the domain has not delegated the scopes to the service account, or did so less than a day ago. In the admin console, under API controls → Domain-wide delegation, enter the client id and every scope',
  },
  {
    error: 'invalid_grant',
    sentence: /invalid jwt signature|no matching key|key.*(disabled|deleted)/i,
    why: 'the key of the service account was deleted or is disabled. Create a new one',
    credential: 'serviceAccountKey',
  },
  {
    error: 'invalid_grant',
    sentence: /account not found|invalid issuer/i,
    why: 'the service account does not exist any more',
    credential: 'serviceAccountKey',
  },
  {
    error: 'invalid_grant',
    sentence: /robot is disabled/i,
    why: 'the service account is disabled. Enable it in the Google Cloud project',
    credential: 'serviceAccountKey',
  },
  {
    error: 'invalid_grant',
    sentence: /invalid email or user id/i,
    why: NO_USER,
    credential: 'email',
  },
  { error: 'invalid_request', sentence: /invalid impersonation/i, why: NO_USER, credential: 'email' },
  {
    error: 'invalid_grant',
    sentence: /deleted|suspended|disabled/i,
    why: 'the user was suspended or deleted',
    credential: 'email',
  },
  {
    error: 'invalid_grant',
    sentence: /short-lived|timeframe/i,
    why: 'the signed request is outside its time. Check the clock of this server',
  },
  { error: 'access_denied', sentence: /account restricted/i, why: 'the user is restricted', credential: 'email' },
  { error: 'access_denied', why: 'a policy of the domain denies the service account access' },
  { error: 'invalid_scope', why: 'it does not know a scope. Check GOOGLE_SCOPES' },
  { error: 'invalid_client', why: 'it does not know the service account', credential: 'serviceAccountKey' },
  { error: 'deleted_client', why: 'the client of the service account was deleted', credential: 'serviceAccountKey' },
  { error: 'disabled_client', why: 'the client of the service account is disabled', credential: 'serviceAccountKey' },
  { error: 'invalid_grant', why: 'it refuses the service account' },
]

/**
 * Says why Google gives the service account no token for these scopes. Undefined when the response does not concern its credentials.
 * `hasUser`: the assertion names a user, who may be at fault.
 */
export function delegationRefusal(
  { error, description, detail }: TokenError,
  { scope, hasUser }: { scope: string; hasUser: boolean },
): ProviderError | undefined {
  if (TEMPORARY.test(description)) return undefined
  const refusal = REFUSALS.find(
    (known) =>
      known.error === error &&
      (known.sentence === undefined || known.sentence.test(description)) &&
      (hasUser || known.credential !== 'email'),
  )
  if (refusal === undefined) return undefined
  const { credential } = refusal
  // Google does not say which of them is missing.
  const why = error === 'unauthorized_client' ? `${refusal.why}: ${scope.split(' ').join(',')}` : refusal.why
  return new ProviderError('auth_expired', `Google gives the service account no token: ${why} (${detail})`, {
    credential,
    isOfApplication: true,
  })
}
