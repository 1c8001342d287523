import type { ImapFlow } from 'imapflow'
import { ScramClient, ScramError, type ScramMechanism, strongestScram } from '../../../platform/crypto/scram.ts'
import { CONNECTION_PROBLEMS, type ConnectionProblem } from '../../../platform/errors/connection-problems.ts'
import { ProviderError } from '../../contract/index.ts'

/** The continuation request that imapflow passes to `onPlusTag`. */
interface Continuation {
  attributes?: readonly { value?: unknown }[]
}

interface PasswordLogin {
  username: string
  password: string
}

/**
 * Makes imapflow log in with SCRAM where the server accepts no plain password, or where the connection is not encrypted. Elsewhere imapflow
 * logs in as before, because some servers offer SCRAM although they store no password for it.
 */
export function offerScram(imap: ImapFlow, login: PasswordLogin): void {
  const authenticate = bindMethod(imap, 'authenticate')
  const complete = bindMethod(imap, 'setAuthenticationState')
  Object.assign(imap, {
    authenticate: async () => {
      const mechanism = scramFor(imap)
      if (mechanism === undefined) {
        ensurePasswordLogin(imap)
        return authenticate()
      }
      // As imapflow's own method does: the capabilities differ after a login.
      Object.assign(imap, { expectCapabilityUpdate: true })
      await scramLogin(imap, mechanism, login)
      imap.authenticated = login.username
      await complete()
      return true
    },
  })
}

function scramFor({ capabilities, secureConnection, state, states }: ImapFlow): ScramMechanism | undefined {
  if (state !== states.NOT_AUTHENTICATED) return undefined
  return secureConnection && takesPassword(capabilities) ? undefined : strongestScram(mechanisms(capabilities))
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

/** AUTHENTICATE as in RFC 9051, without an initial response, which servers need not accept. */
async function scramLogin(imap: ImapFlow, mechanism: ScramMechanism, login: PasswordLogin): Promise<void> {
  const client = new ScramClient({ mechanism, ...login })
  const [execute, write] = [bindMethod(imap, 'exec'), bindMethod(imap, 'write')]
  const steps: ((challenge: string) => string | Promise<string>)[] = [
    () => client.first(),
    (challenge) => client.final(challenge),
    (challenge) => {
      client.verify(challenge)
      return ''
    },
  ]
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
  client.ensureVerified()
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
