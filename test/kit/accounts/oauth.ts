import type { LinkAccount } from '../../../src/accounts/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'
import type { LoginProvider, ProviderName } from '../../../src/providers/contract/index.ts'
import { gmailLogin } from '../../../src/providers/gmail/login.ts'
import { microsoftLogin } from '../../../src/providers/microsoft/login.ts'
import { OAUTH_CLIENT } from '../../servers/oauth-server.ts'

/** OAuth clients of both providers for the fake server at `url`. */
export function loginAt(url: string): (provider: ProviderName) => LoginProvider | undefined {
  const shared = { ...OAUTH_CLIENT, clock: systemClock }
  const logins: { readonly [Name in ProviderName]?: LoginProvider } = {
    gmail: gmailLogin({ ...shared, authUrl: `${url}/auth`, tokenUrl: `${url}/token`, userinfoUrl: `${url}/userinfo` }),
    microsoft: microsoftLogin({ ...shared, tenant: 'common', loginUrl: url, graphUrl: url }),
  }
  return (provider) => logins[provider]
}

/** A Microsoft mailbox, with scopes of Gmail too. Its access token has expired unless `over` replaces it. */
export function oauthLink(refreshToken: string | undefined, over: Partial<LinkAccount> = {}): LinkAccount {
  return {
    provider: 'microsoft',
    email: 'ada@example.com',
    customUserId: null,
    providerUser: 'user-1',
    settings: {},
    secrets: {},
    tokens: {
      accessToken: 'first-access',
      expiresAt: Date.now() - 1,
      scopes: ['Mail.ReadWrite', 'User.Read', 'https://www.googleapis.com/auth/gmail.modify'],
      ...(refreshToken !== undefined && { refreshToken }),
    },
    ...over,
  }
}
