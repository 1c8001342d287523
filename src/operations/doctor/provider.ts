import { describeError } from '../../platform/errors/describe-error.ts'
import { replaceFailure, rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import type { ClientProbe, LoginProvider, RedirectProbe } from '../../providers/contract/index.ts'
import { type Check, type Finding, failed, ok, Skip, skipped, warning } from './check.ts'

interface ProviderChecksDeps {
  provider: 'gmail' | 'microsoft'
  /** Undefined while the client id or the secret is missing. */
  login: LoginProvider | undefined
  /** The address to register. */
  redirectUri: string
  /** Why the settings prevent signing in, without asking the provider. */
  problems: readonly string[]
}

export interface ProviderChecks {
  checks: Check[]
  /** How far the clock of the provider is ahead of ours. */
  clockAheadMs(): Promise<number | undefined>
}

const NAMES = { gmail: 'Google', microsoft: 'Microsoft' } as const
const VARIABLES = {
  gmail: ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
  microsoft: ['MICROSOFT_CLIENT_ID', 'MICROSOFT_CLIENT_SECRET'],
} as const
const CONSOLES = {
  gmail:
    'the OAuth client in the Google Cloud console (APIs & Services, Credentials), under "Authorized redirect URIs"',
  microsoft: 'the app in Microsoft Entra (App registrations, Authentication), as a redirect URI of the platform "Web"',
} as const

/** The credentials of this service at a provider, and its redirect address. */
export function providerChecks(deps: ProviderChecksDeps): ProviderChecks {
  const { provider, login, redirectUri } = deps
  let probed: Promise<ClientProbe> | undefined
  const probe = () => {
    if (login === undefined) throw notConfigured(deps)
    probed ??= login.probeClient(redirectUri)
    return probed
  }
  return {
    checks: [
      { name: `${provider} credentials`, run: () => credentials(deps, probe) },
      { name: `${provider} redirect address`, run: () => redirectAddress(deps) },
    ],
    clockAheadMs: async () => (login === undefined ? undefined : (await probe()).clockAheadMs),
  }
}

/** Incomplete settings are a failure, missing ones are not. */
function notConfigured({ provider, problems }: ProviderChecksDeps): Error {
  const [id, secret] = VARIABLES[provider]
  return problems.length > 0
    ? new Error(problems[0])
    : new Skip(`${NAMES[provider]} is not configured. Set ${id} and ${secret} to connect its mailboxes.`)
}

async function credentials(deps: ProviderChecksDeps, probe: () => Promise<ClientProbe>): Promise<Finding> {
  const { provider } = deps
  const [id, secret] = VARIABLES[provider]
  const name = NAMES[provider]
  if (deps.login === undefined) throw notConfigured(deps)
  try {
    const { client, code } = await probe()
    if (client === 'accepted') return ok(`${name} accepts ${id} and ${secret}.`)
    if (client === 'refused') return failed(`${name} refuses ${id} or ${secret} (${code}).`, remedyFor(provider, code))
    const remedy = code.includes('AADSTS90002')
      ? 'The tenant does not exist. Correct MICROSOFT_TENANT.'
      : `Check ${id} and ${secret}, and connect a mailbox to be sure.`
    return warning(`${name} did not say whether it accepts ${id} and ${secret} (${code}).`, remedy)
  } catch (error) {
    rethrowProgrammingError(error)
    return failed(
      `Cannot check the credentials: ${describeError(error)}.`,
      `Check that this machine may connect to ${name} by https.`,
    )
  }
}

/** Explains Microsoft's error numbers in terms of the settings. */
const AADSTS: Readonly<Record<string, string>> = {
  AADSTS7000215: 'MICROSOFT_CLIENT_SECRET is wrong. Copy the value of the secret, not its id.',
  AADSTS7000222: 'The client secret has expired. Create a new one in Microsoft Entra and set MICROSOFT_CLIENT_SECRET.',
  AADSTS700016:
    'Microsoft does not know this MICROSOFT_CLIENT_ID in the tenant. Compare it with the app registration, and MICROSOFT_TENANT with its tenant.',
}

function remedyFor(provider: 'gmail' | 'microsoft', code: string): string {
  const entry = Object.entries(AADSTS).find(([number]) => code.endsWith(number))
  const [id, secret] = VARIABLES[provider]
  return entry?.[1] ?? `Copy ${id} and ${secret} again from the console of ${NAMES[provider]}.`
}

async function redirectAddress(deps: ProviderChecksDeps): Promise<Finding> {
  const { provider, login, redirectUri, problems } = deps
  if (login === undefined) throw new Skip(`${NAMES[provider]} is not configured. The address will be ${redirectUri}`)
  const name = NAMES[provider]
  const register = `In ${CONSOLES[provider]}, register exactly this address: ${redirectUri}`
  if (problems[0] !== undefined) return failed(problems[0], register)
  const found: RedirectProbe | undefined = await login.probeRedirect(redirectUri).catch(replaceFailure(undefined))
  if (found === 'registered') return ok(`${redirectUri} is registered at ${name}.`)
  if (found === undefined) return skipped(`${name} cannot be asked whether ${redirectUri} is registered.`, register)
  if (found === 'refused') return failed(`${redirectUri} is not registered at ${name}.`, register)
  return skipped(`${name} does not say whether ${redirectUri} is registered.`, register)
}
