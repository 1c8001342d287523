import { redirectUri } from '../accounts/auth/index.ts'
import type { Config } from '../config/index.ts'
import { type Check, mailProviderChecks, ok, type ProviderChecks, providerChecks } from '../operations/doctor/index.ts'
import type { AddressGuard } from '../platform/net/index.ts'
import { type SignIn, signInProblems } from './sign-in.ts'

/** The checks of the sign-in at Google or Microsoft, with the settings and logins of this process. */
export function signInChecks(provider: 'gmail' | 'microsoft', config: Config, logins: SignIn): ProviderChecks {
  const uri = redirectUri(config.publicUrl, provider)
  const variable = provider === 'gmail' ? 'GOOGLE_' : 'MICROSOFT_'
  return providerChecks({
    provider,
    login: logins[provider],
    redirectUri: uri,
    problems: signInProblems(config)
      .map(({ message }) => message)
      .filter((message) => message.includes(uri) || message.includes(variable)),
  })
}

/** The checks of a provider by its name. IMAP has no settings to check. */
export function findChecks(provider: string, config: Config, logins: SignIn, guard: AddressGuard): Check[] | undefined {
  if (provider === 'gmail' || provider === 'microsoft') return signInChecks(provider, config, logins).checks
  if (provider === 'imap') return [{ name: 'imap', run: async () => ok('IMAP needs no settings.') }]
  return mailSignInChecks(config, logins, guard).get(provider)
}

/** The checks of each name in OAUTH_PROVIDERS. */
export function mailSignInChecks(
  { publicUrl }: Pick<Config, 'publicUrl'>,
  { mail }: SignIn,
  guard: AddressGuard,
): ReadonlyMap<string, Check[]> {
  return new Map(
    [...mail].map(([name, { provider, login }]) => [
      name,
      mailProviderChecks({ provider, login, redirectUri: redirectUri(publicUrl, name), guard }),
    ]),
  )
}
