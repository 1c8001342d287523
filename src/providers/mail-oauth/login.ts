import { parseEmailAddress } from '../../platform/formats/email-address.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { LoginProvider, MailSettings, ProviderUser } from '../contract/index.ts'
import { ProviderError } from '../contract/index.ts'
import { oauthClient, readClaims, type SignedInGet } from '../shared/oauth/index.ts'
import type { MailOAuthProvider } from './providers-file.ts'

export interface MailLogin {
  provider: MailOAuthProvider
  login: LoginProvider
}

/** By name. */
export type MailLogins = ReadonlyMap<string, MailLogin>

interface MailLoginOptions {
  clock: Clock
  /** Contacts are switched on. */
  withContacts: boolean
}

export function mailLogins(providers: readonly MailOAuthProvider[], options: MailLoginOptions): MailLogins {
  return new Map(providers.map((provider) => [provider.name, { provider, login: mailLogin(provider, options) }]))
}

/** How to reach the mailbox of an address. */
export function mailSettings(
  provider: MailOAuthProvider,
  email: string,
): MailSettings & Required<Pick<MailSettings, 'imap'>> {
  const { name, imap, smtp, caldavUrl, carddavUrl } = provider
  return {
    oauth: { provider: name },
    imap: { ...imap, username: email, allowSelfSigned: false, mailbox: 'INBOX' },
    smtp: { ...smtp, username: email },
    ...(caldavUrl !== undefined && { caldav: { url: caldavUrl, username: email } }),
    ...(carddavUrl !== undefined && { carddav: { url: carddavUrl, username: email } }),
  }
}

/** It identifies nobody after the sign-in: a mail server accepts a token for the mailboxes of its user only. */
function mailLogin(provider: MailOAuthProvider, { clock, withContacts }: MailLoginOptions): LoginProvider {
  const { label, authorizationUrl, tokenUrl, revocationUrl, authorizationParameters } = provider
  const scopes = [...provider.scopes, ...(withContacts ? provider.contactScopes : [])]
  const client = oauthClient({
    service: label,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
    clientAuthentication: provider.clientAuthentication,
    pkce: provider.pkce,
    authUrl: authorizationUrl,
    tokenUrl,
    ...(revocationUrl !== undefined && { revokeUrl: revocationUrl }),
    ...(provider.refreshScope !== undefined && { refreshScope: provider.refreshScope }),
    scopes,
    // The mail server decides what a token permits.
    missing: () => [],
    clock,
  })

  /** What the provider says, else the address that the user entered. */
  async function findUser(get: SignedInGet, accessToken: string, idToken: unknown, entered: string | null) {
    const { userinfoUrl } = provider
    const claims = userinfoUrl === undefined ? readClaims(idToken) : await get(userinfoUrl, accessToken)
    const names = [claims.email, claims.preferred_username, claims.sub, entered]
    const email = names.find((text): text is string => typeof text === 'string' && isEmail(text))
    if (email === undefined) throw new ProviderError('rejected', `${label} did not say whose mailbox this is`)
    return { id: email, email } satisfies ProviderUser
  }

  return {
    scopes,
    sharedScopes: [],
    consentUrl: (request) => client.consentUrl(request, { ...authorizationParameters }),
    exchange: (callback, { loginHint = null, ...sent }) =>
      client.exchange(callback, sent, (get, accessToken, idToken) => findUser(get, accessToken, idToken, loginHint)),
    refresh: client.refresh,
    probeClient: client.probeClient,
    probeRedirect: client.probeRedirect,
    async revoke(refreshToken) {
      if (revocationUrl !== undefined) await client.revoke(refreshToken)
    },
  }
}

const isEmail = (text: string) => parseEmailAddress(text).address !== undefined
