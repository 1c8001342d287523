import type { Sealer } from '../../../platform/crypto/seal.ts'
import type { Db } from '../../../platform/db/index.ts'
import { AppError, invalid } from '../../../platform/errors/app-error.ts'
import { secretToken } from '../../../platform/ids.ts'
import type { SealedColumn } from '../../../platform/secrets/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type LoginProvider,
  notGranted,
  type OAuthProvider,
  PROVIDER_NAMES,
  type ProviderName,
} from '../../../providers/contract/index.ts'
import type { MailLogins, MailOAuthProvider } from '../../../providers/mail-oauth/index.ts'
import { type Accounts, OAUTH_SETTINGS } from '../../index.ts'
import { type AuthSession, hashSecret } from '../sessions/store.ts'
import { consentStore } from './store.ts'

/** The OAuth client of each provider that is set up. */
export type Logins = { readonly [Name in OAuthProvider]?: LoginProvider | undefined } & {
  /** For mail servers, by their names in OAUTH_PROVIDERS. */
  readonly mail?: MailLogins
}

export interface ConsentsDeps {
  db: Db
  clock: Clock
  sealer: Sealer
  publicUrl: string
  logins: Logins
  accounts: Pick<Accounts, 'findLinked'>
}

export interface ConsentRequest {
  code: string
  session: AuthSession
  /** Login hint for the provider. */
  email: string | null
  /** State of the page or the JSON call that requested the consent. */
  pageState: string
  /** State that the redirect returns. Undefined unless the application chose it. */
  applicationState: string | undefined
  /** Requested with the cookie of the hosted page, which the callback then requires. */
  fromPage: boolean
  /** Requested again because the first consent brought no refresh token. */
  isRepeat?: boolean
}

/** The values that the callback needs. Stored sealed, because they contain the code verifier and the session code. */
export type ConsentFacts = Omit<ConsentRequest, 'session'> & { codeVerifier: string }

export type Consents = ReturnType<typeof consents>

/** Sends users to the provider's consent page and recognises them at the callback. */
export function consents({ db, clock, sealer, publicUrl, logins, accounts }: ConsentsDeps) {
  const find = (name: string) => (isOAuth(name) ? logins[name] : logins.mail?.get(name)?.login)

  /** By the provider, or by the name in OAUTH_PROVIDERS. Throws route_not_found when it has no consent page or is not set up. */
  function login(name: string): LoginProvider {
    const found = find(name)
    if (found === undefined)
      throw new AppError('route_not_found', { message: 'This provider does not exist or is not configured.' })
    return found
  }

  /** Whether an account that the session may be for was connected with fewer scopes than are requested now. */
  async function lacksScopes(name: string, session: AuthSession, email: string | null): Promise<boolean> {
    const { scopes, sharedScopes } = login(name)
    const requested = session.sharedMailboxes ? [...scopes, ...sharedScopes] : scopes
    const linked = await accounts.findLinked(isOAuth(name) ? name : 'imap', session.customUserId, email)
    return linked.some(({ tokens }) => notGranted(requested, tokens.scopes).length > 0)
  }

  return {
    login,

    /** The provider of accounts that this sign-in links, and the mail servers for one of OAUTH_PROVIDERS. Undefined when it is unknown. */
    findSignIn(name: string): { provider: ProviderName; mail?: MailOAuthProvider } | undefined {
      const mail = logins.mail?.get(name)?.provider
      if (mail !== undefined) return { provider: 'imap', mail }
      return isOAuth(name) && logins[name] !== undefined ? { provider: name } : undefined
    },

    /** The providers whose mailboxes users can connect, in display order. IMAP needs no setup. */
    connectable: PROVIDER_NAMES.filter((name) => name === 'imap' || find(name) !== undefined),

    /** Throws validation_failed, naming the settings, for a provider that is not configured. */
    requireConfigured(provider: ProviderName): void {
      if (!isOAuth(provider) || find(provider) !== undefined) return
      throw invalid('body.provider', `is not configured; set ${OAUTH_SETTINGS[provider]}`)
    },

    /** Returns the URL of the consent page. `name`: the provider, or the name in OAUTH_PROVIDERS. */
    async begin(name: string, { session, ...request }: ConsentRequest): Promise<string> {
      const state = secretToken()
      const codeVerifier = secretToken()
      const url = await login(name).consentUrl({
        redirectUri: redirectUri(publicUrl, name),
        state,
        codeVerifier,
        loginHint: request.email,
        sharedMailboxes: session.sharedMailboxes,
        forceConsent:
          session.forceConsent || request.isRepeat === true || (await lacksScopes(name, session, request.email)),
      })
      const facts: ConsentFacts = { ...request, codeVerifier }
      const stateHash = hashSecret(state)
      await db.transaction((tx) =>
        consentStore(tx).insert({
          stateHash,
          sessionId: session.id,
          provider: name,
          facts: sealer.seal(JSON.stringify(facts), sealContext(stateHash)),
          usedAt: null,
          expiresAt: session.expiresAt,
          createdAt: clock.now(),
        }),
      )
      return url
    },

    /** Reads what `begin` stored. Call `use` before acting on it. Throws consent_unknown and consent_used. */
    async get(name: string, state: string): Promise<ConsentFacts> {
      const row = await consentStore(db.read).find(hashSecret(state))
      if (row === undefined || row.provider !== name) throw new AppError('consent_unknown')
      if (row.usedAt !== null) throw new AppError('consent_used')
      return JSON.parse(sealer.open(row.facts, sealContext(row.stateHash)))
    },

    /** Uses up the consent. Throws consent_used when another request already did. */
    async use(state: string): Promise<void> {
      const used = await db.transaction((tx) => consentStore(tx).use(hashSecret(state), clock.now()))
      if (!used) throw new AppError('consent_used')
    },
  }
}

/** The callback URL of a provider, or of a name in OAUTH_PROVIDERS. The operator registers it there. */
export function redirectUri(publicUrl: string, name: string): string {
  return `${publicUrl}/providers/${name}/callback`
}

function isOAuth(provider: string): provider is OAuthProvider {
  return provider === 'gmail' || provider === 'microsoft'
}

const sealContext = (stateHash: string) => `consent:${stateHash}`

export const SEALED_CONSENTS: SealedColumn = { table: 'oauthFlows', key: 'stateHash', column: 'facts', sealContext }
