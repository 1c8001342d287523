import { describeError } from '../../platform/errors/describe-error.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import { type AddressGuard, GuardError } from '../../platform/net/index.ts'
import type { LoginProvider } from '../../providers/contract/index.ts'
import type { MailOAuthProvider } from '../../providers/mail-oauth/index.ts'
import { type Check, type Finding, failed, ok, skipped, warning } from './check.ts'

interface MailProviderChecksDeps {
  provider: MailOAuthProvider
  login: LoginProvider
  /** The address to register. */
  redirectUri: string
  guard: AddressGuard
}

/** One sign-in of OAUTH_PROVIDERS: its client, its authorization page with the redirect address, and its mail servers. */
export function mailProviderChecks(deps: MailProviderChecksDeps): Check[] {
  const { name } = deps.provider
  return [
    { name: `${name} credentials`, run: () => credentials(deps) },
    { name: `${name} redirect address`, run: () => redirectAddress(deps) },
    { name: `${name} mail servers`, run: () => mailServers(deps) },
  ]
}

async function credentials({ provider, login, redirectUri }: MailProviderChecksDeps): Promise<Finding> {
  const { label } = provider
  const client = `the client of ${provider.name} in OAUTH_PROVIDERS`
  try {
    const { client: verdict, code } = await login.probeClient(redirectUri)
    if (verdict === 'accepted') return ok(`${label} accepts ${client}.`)
    if (verdict === 'refused') {
      return failed(`${label} refuses ${client} (${code}).`, 'Correct clientId, clientSecret or clientAuthentication.')
    }
    return warning(
      `${label} did not say whether it accepts ${client} (${code}).`,
      'Check tokenUrl, clientId and clientSecret, and connect a mailbox to be sure.',
    )
  } catch (error) {
    rethrowProgrammingError(error)
    return failed(
      `Cannot check ${client}: ${describeError(error)}.`,
      'Check tokenUrl, and that this machine may connect to it.',
    )
  }
}

async function redirectAddress({ provider, login, redirectUri }: MailProviderChecksDeps): Promise<Finding> {
  const { label } = provider
  const register = `In the client at ${label}, register exactly this address: ${redirectUri}`
  try {
    const found = await login.probeRedirect(redirectUri)
    if (found === 'registered') return ok(`${redirectUri} is registered at ${label}.`)
    if (found === 'refused') return failed(`${redirectUri} is not registered at ${label}.`, register)
    return skipped(`${label} does not say whether ${redirectUri} is registered.`, register)
  } catch (error) {
    rethrowProgrammingError(error)
    return failed(
      `Cannot open the sign-in page of ${label}: ${describeError(error)}.`,
      `Correct authorizationUrl of ${provider.name} in OAUTH_PROVIDERS.`,
    )
  }
}

async function mailServers({ provider, guard }: MailProviderChecksDeps): Promise<Finding> {
  const { name, imap, smtp, caldavUrl, carddavUrl } = provider
  const servers = [
    { member: 'imap.host', host: imap.host, port: imap.port },
    { member: 'smtp.host', host: smtp.host, port: smtp.port },
    ...(caldavUrl === undefined ? [] : [davServer('caldavUrl', caldavUrl)]),
    ...(carddavUrl === undefined ? [] : [davServer('carddavUrl', carddavUrl)]),
  ]
  const findings = await Promise.all(servers.map((server) => mailServer(name, server, guard)))
  const problem = findings.find((finding) => finding !== undefined)
  return problem ?? ok(`The names of its servers resolve: ${servers.map(({ host }) => host).join(', ')}.`)
}

interface MailServer {
  /** In OAUTH_PROVIDERS. */
  member: string
  host: string
  port: number
}

function davServer(member: string, url: string): MailServer {
  const { hostname, port, protocol } = new URL(url)
  return { member, host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}

async function mailServer(
  name: string,
  { member, host, port }: MailServer,
  guard: AddressGuard,
): Promise<Finding | undefined> {
  try {
    await guard.check({ host, port })
    return undefined
  } catch (error) {
    rethrowProgrammingError(error)
    const isRefused = error instanceof GuardError && error.reason === 'refused'
    return failed(
      `${host}: ${describeError(error)}`,
      isRefused
        ? `Add ${host} to PRIVATE_TARGETS if it is yours.`
        : `Correct ${member} of ${name} in OAUTH_PROVIDERS, or check the name server.`,
    )
  }
}
