import type { ImapFlow } from 'imapflow'
import { ScramClient, ScramError, type ScramMechanism, strongestScram } from '../../../platform/crypto/scram.ts'
import { CONNECTION_PROBLEMS, type ConnectionProblem } from '../../../platform/errors/connection-problems.ts'
import { ProviderError } from '../../contract/index.ts'
import { chooseOAuthMechanism, cramMd5Response, withoutOAuth } from '../../shared/sasl/index.ts'

/** The continuation request that imapflow passes to `onPlusTag`. */
interface Continuation {
  attributes?: readonly { value?: unknown }[]
}

interface PasswordLogin {
  username: string
  password: string
}

/** Returns the response to what the server sent, both without base64. */
type Step = (challenge: string) => string | Promise<string>

/** One login by challenge and response. */
interface Exchange {
  mechanism: ScramMechanism | 'CRAM-MD5'
  steps: Step[]
  /** Throws when the server ended the login too early. */
  ensureComplete(): void
}

/**
 * Makes imapflow log in with SCRAM, else with CRAM-MD5, where the server accepts no plain password, or where the connection is not
 * encrypted. Elsewhere imapflow logs in as before, because some servers offer these mechanisms although they store no password for them.
 */
export function offerChallengeLogin(imap: ImapFlow, login: PasswordLogin): void {
  const complete = bindMethod(imap, 'setAuthenticationState')
  replaceLogin(imap, async (authenticate) => {
    const exchange = exchangeFor(imap, login)
    if (exchange === undefined) {
      ensurePasswordLogin(imap)
      return authenticate()
    }
    // As imapflow's own method does: the capabilities differ after a login.
    Object.assign(imap, { expectCapabilityUpdate: true })
    await runExchange(imap, exchange)
    imap.authenticated = login.username
    await complete()
    return true
  })
}

/** Lets imapflow log in with an access token only where the server takes one. */
export function requireOAuthLogin(imap: ImapFlow): void {
  replaceLogin(imap, (authenticate) => {
    const isDone = imap.state !== imap.states.NOT_AUTHENTICATED
    if (isDone || chooseOAuthMechanism(mechanisms(imap.capabilities)) !== undefined) return authenticate()
    throw withoutOAuth('logging in')
  })
}

function replaceLogin(imap: ImapFlow, login: (authenticate: () => unknown) => unknown): void {
  const authenticate = bindMethod(imap, 'authenticate')
  Object.assign(imap, { authenticate: async () => login(authenticate) })
}

function exchangeFor(imap: ImapFlow, login: PasswordLogin): Exchange | undefined {
  const { capabilities, secureConnection, state, states } = imap
  if (state !== states.NOT_AUTHENTICATED) return undefined
  if (secureConnection && takesPassword(capabilities)) return undefined
  const offered = mechanisms(capabilities)
  const scram = strongestScram(offered)
  if (scram !== undefined) return scramExchange(scram, login)
  return offered.has('CRAM-MD5') ? cramMd5Exchange(login) : undefined
}

type Capabilities = ImapFlow['capabilities']

function mechanisms(capabilities: Capabilities): Set<string> {
  const offered = new Set<string>()
  for (const name of capabilities.keys()) {
    if (name.startsWith('AUTH=')) offered.add(name.slice('AUTH='.length).toUpperCase())
  }
  return offered
}

function takesPassword(capabilities: Capabilities): boolean {
  const offered = mechanisms(capabilities)
  return offered.has('PLAIN') || offered.has('LOGIN') || !capabilities.has('LOGINDISABLED')
}

/** imapflow would report a refused password, although it sends none. */
function ensurePasswordLogin({ capabilities, secureConnection, state, states }: ImapFlow): void {
  if (state !== states.NOT_AUTHENTICATED || takesPassword(capabilities)) return
  const problem: ConnectionProblem = secureConnection ? 'no_password_login' : 'encryption_required'
  const message = `logging in: the server ${CONNECTION_PROBLEMS[problem].text}`
  throw new ProviderError(secureConnection ? 'auth_expired' : 'tls', message, { problem })
}

function scramExchange(mechanism: ScramMechanism, login: PasswordLogin): Exchange {
  const client = new ScramClient({ mechanism, ...login })
  return {
    mechanism,
    steps: [
      () => client.first(),
      (challenge) => client.final(challenge),
      (challenge) => {
        client.verify(challenge)
        return ''
      },
    ],
    ensureComplete: () => client.ensureVerified(),
  }
}

function cramMd5Exchange(login: PasswordLogin): Exchange {
  const steps: Step[] = [(challenge) => cramMd5Response(challenge, login)]
  return {
    mechanism: 'CRAM-MD5',
    steps,
    ensureComplete() {
      if (steps.length > 0) throw new ScramError('the server ended the login without asking for the password')
    },
  }
}

/** AUTHENTICATE as in RFC 9051, without an initial response, which servers need not accept. */
async function runExchange(imap: ImapFlow, { mechanism, steps, ensureComplete }: Exchange): Promise<void> {
  const [execute, write] = [bindMethod(imap, 'exec'), bindMethod(imap, 'write')]
  let failure: unknown
  const onPlusTag = async ({ attributes }: Continuation) => {
    const challenge = Buffer.from(String(attributes?.[0]?.value ?? ''), 'base64').toString()
    const step = steps.shift()
    try {
      if (step === undefined) throw new ScramError('the server did not end the login')
      write(Buffer.from(await step(challenge)).toString('base64'))
    } catch (error) {
      failure ??= error
      // Cancels the exchange.
      write('*')
    }
  }
  try {
    const response = await execute('AUTHENTICATE', [{ type: 'ATOM', value: mechanism }], { onPlusTag })
    bindMethod(response, 'next')()
  } catch (error) {
    throw failure ?? asRefusal(error)
  }
  if (failure !== undefined) throw failure
  ensureComplete()
}

/** Marks the error of a tagged NO or BAD, as imapflow does for its own mechanisms. */
function asRefusal(error: unknown): unknown {
  const isRefused = error instanceof Error && 'responseStatus' in error
  return isRefused ? Object.assign(error, { authenticationFailed: true }) : error
}

/** imapflow declares none of these methods. A version without them must fail every test that logs in. */
function bindMethod(target: unknown, name: string): (...values: unknown[]) => unknown {
  const method: unknown = typeof target === 'object' && target !== null ? Reflect.get(target, name) : undefined
  if (typeof method !== 'function') throw new TypeError(`This version of imapflow has no ${name}.`)
  return (...values) => Reflect.apply(method, target, values)
}
