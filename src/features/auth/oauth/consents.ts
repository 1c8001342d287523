import type { Db } from '../../../infra/db/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { secretToken } from '../../../lib/ids.ts'
import type { Sealer } from '../../../lib/seal.ts'
import type { LoginProvider, ProviderName } from '../../../providers/contract/index.ts'
import { type AuthSession, hashOf } from '../sessions/session.ts'
import { consentStore } from './store.ts'

export type Logins = { readonly [Name in Exclude<ProviderName, 'imap'>]?: LoginProvider | undefined }

export interface ConsentsDeps {
  db: Db
  clock: Clock
  sealer: Sealer
  publicUrl: string
  logins: Logins
}

/** Whose consent is asked for, and where it came from. */
export interface ConsentRequest {
  code: string
  session: AuthSession
  email: string | null
  /** The state of the page or of the JSON call it began with. */
  pageState: string
  /** The state that the application chose and gets back. */
  returned: string | undefined
  /** It began on a page: the callback asks for its cookie. */
  fromPage: boolean
  /** Asked for a second time, because a refresh token did not come without. */
  again?: boolean
}

/** What the callback must know again; sealed, because the verifier and the code of the session are among it. */
export type ConsentFacts = Omit<ConsentRequest, 'session'> & { codeVerifier: string }

export type Consents = ReturnType<typeof consents>

/** Asks people for their consent at a provider, and knows them again when they come back. */
export function consents({ db, clock, sealer, publicUrl, logins }: ConsentsDeps) {
  const all = new Map(Object.entries(logins).filter(([, login]) => login !== undefined))
  const login = (provider: ProviderName) => {
    const found = all.get(provider)
    if (found === undefined) throw new AppError('route_not_found', { message: 'There is no such provider.' })
    return found
  }

  return {
    has: (provider: ProviderName) => all.has(provider),
    login,

    /** The address of the provider's consent page. */
    async begin(provider: ProviderName, { session, ...request }: ConsentRequest): Promise<string> {
      const state = secretToken()
      const codeVerifier = secretToken()
      const url = await login(provider).consentUrl({
        redirectUri: redirectUri(publicUrl, provider),
        state,
        codeVerifier,
        loginHint: request.email,
        forceConsent: session.forceConsent || request.again === true,
      })
      const facts: ConsentFacts = { ...request, codeVerifier }
      const stateHash = hashOf(state)
      await db.transaction((tx) =>
        consentStore(tx).insert({
          stateHash,
          sessionId: session.id,
          provider,
          facts: sealer.seal(JSON.stringify(facts), contextOf(stateHash)),
          usedAt: null,
          expiresAt: session.expiresAt,
          createdAt: clock.now(),
        }),
      )
      return url
    },

    /** What was known when it began; `use` it before anything is done. Throws consent_unknown and consent_used. */
    async find(provider: ProviderName, state: string | null): Promise<ConsentFacts> {
      const row = state === null ? undefined : await consentStore(db.read).find(hashOf(state))
      if (row === undefined || row.provider !== provider) throw new AppError('consent_unknown')
      if (row.usedAt !== null) throw new AppError('consent_used')
      return JSON.parse(sealer.open(row.facts, contextOf(row.stateHash)))
    },

    /** Throws consent_used when another request did. */
    async use(state: string): Promise<void> {
      const isOurs = await db.transaction((tx) => consentStore(tx).use(hashOf(state), clock.now()))
      if (!isOurs) throw new AppError('consent_used')
    },
  }
}

/** Where the provider sends the browser back to; operators register it there. */
export function redirectUri(publicUrl: string, provider: ProviderName): string {
  return `${publicUrl}/providers/${provider}/callback`
}

const contextOf = (stateHash: string) => `consent:${stateHash}`
