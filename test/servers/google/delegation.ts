import { createVerify, generateKeyPairSync, randomBytes } from 'node:crypto'
import { lazy } from '../../../src/platform/concurrency/lazy.ts'
import { Addresses } from '../fake/addresses.ts'
import type { Tokens } from '../fake/tokens.ts'
import { oauthError } from './errors.ts'

const AUTH = 'https://www.googleapis.com/auth/'
/** The scopes that the administrator of a domain authorises in the admin console. */
const DELEGATED_SCOPES = ['gmail.modify', 'calendar.events', 'calendar.readonly', 'admin.directory.user.readonly']
const CLIENT_ID = '104512345678901234567'
const EMAIL = 'posthorn@acme-mail.iam.gserviceaccount.com'

const accountKeys = lazy(() => [1, 2].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 })))

/** A domain of Google Workspace whose administrator has delegated authority to a service account. */
export interface Workspace {
  /** Without `https://www.googleapis.com/auth/`. */
  scopes: string[]
  domain: string
  /** Users with the privilege to read the directory. */
  admins: string[]
  suspended: Set<string>
  /** Its keys, by id, that are not deleted. */
  keyIds: string[]
  serviceAccount: 'enabled' | 'disabled' | 'deleted'
  /** The Admin SDK API is enabled in the project. */
  isDirectoryEnabled: boolean
}

/** Exchanges assertions of the service account with a `sub` (RFC 7523), with Google's errors. */
export function delegation(url: string, tokens: Tokens, hasUser: (email: string) => boolean) {
  let workspace: Workspace | undefined
  const addresses = new Addresses()
  const pace = { latencyMs: 0 }
  let tokenRequests = 0
  /** How many requests for tokens run now, by the user whom they name. */
  const running = new Map<string, number>()
  let peak = 0

  function keyFile(keyId = 'key-1'): Record<string, string> {
    const [first, second] = accountKeys()
    const key = (keyId === 'key-1' ? first : second)?.privateKey
    return {
      type: 'service_account',
      project_id: 'acme-mail',
      private_key_id: keyId,
      private_key: key?.export({ type: 'pkcs8', format: 'pem' }).toString() ?? '',
      client_email: EMAIL,
      client_id: CLIENT_ID,
      token_uri: 'https://tokens.example/steal',
    }
  }

  function isSigned(head: string, payload: string, signature: string, keyId: unknown): boolean {
    const [first, second] = accountKeys()
    const key = (keyId === 'key-1' ? first : second)?.publicKey
    if (key === undefined || !workspace?.keyIds.includes(String(keyId))) return false
    return createVerify('RSA-SHA256').update(`${head}.${payload}`).verify(key, signature, 'base64url')
  }

  function refuseUser(
    { scopes, domain, suspended }: Workspace,
    user: string,
    requested: string[],
  ): Response | undefined {
    const allowed = scopes.map((name) => AUTH + name)
    if (!requested.every((name) => allowed.includes(name)) || !user.endsWith(`@${domain}`)) return unauthorized()
    if (!hasUser(addresses.userAt(user) ?? '')) return oauthError('invalid_grant', 'Invalid email or User ID')
    return suspended.has(addresses.userAt(user) ?? '')
      ? oauthError('invalid_grant', 'Account has been deleted')
      : undefined
  }

  /** Undefined for an assertion of another service account. */
  async function exchange(assertion: string): Promise<Response | undefined> {
    const [head = '', payload = '', signature = ''] = assertion.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>
    const { iss, sub } = claims
    if (iss !== EMAIL || workspace === undefined) return undefined
    tokenRequests += 1
    await wait(String(sub))
    return issue(workspace, { head, payload, signature }, claims)
  }

  async function wait(user: string): Promise<void> {
    const count = (running.get(user) ?? 0) + 1
    running.set(user, count)
    peak = Math.max(peak, count)
    await new Promise((resolve) => setTimeout(resolve, pace.latencyMs))
    const left = (running.get(user) ?? 1) - 1
    if (left > 0) running.set(user, left)
    else running.delete(user)
  }

  function issue(
    domain: Workspace,
    { head, payload, signature }: Record<'head' | 'payload' | 'signature', string>,
    { aud, exp, iat, scope, sub }: Record<string, unknown>,
  ): Response {
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString())
    if (domain.serviceAccount === 'deleted') return oauthError('invalid_grant', 'Invalid grant: account not found')
    if (domain.serviceAccount === 'disabled') return oauthError('invalid_grant', 'Robot is disabled.')
    if (!isSigned(head, payload, signature, kid)) return oauthError('invalid_grant', 'Invalid JWT Signature.')
    if (aud !== `${url}/token`) return oauthError('invalid_grant', 'Invalid audience.')
    const now = Date.now() / 1000
    if (typeof exp !== 'number' || typeof iat !== 'number' || exp < now || iat > now + 60 || exp - iat > 3600)
      return oauthError(
        'invalid_grant',
        'Invalid JWT: Token must be a short-lived token and in a reasonable timeframe.',
      )
    const scopes = String(scope ?? '').split(' ')
    // Without a user, the token is of the service account, which has no mailbox.
    const refused = typeof sub === 'string' ? refuseUser(domain, sub, scopes) : undefined
    if (refused) return refused
    const user = typeof sub === 'string' ? (addresses.userAt(sub) ?? EMAIL) : EMAIL
    const accessToken = `ya29.${randomBytes(20).toString('base64url')}`
    tokens.issue(accessToken, { user, scopes, refreshToken: null })
    return Response.json({ access_token: accessToken, token_type: 'Bearer', expires_in: tokens.lifetime })
  }

  return {
    addresses,
    exchange,
    keyFile,
    /** How long a request for a token takes. */
    pace,
    /** The users for whom tokens are being requested. */
    requesting: (): readonly string[] => [...running.keys()],
    /** The most requests at a time for one user. */
    get peakTokenRequests() {
      return peak
    },
    get tokenRequests() {
      return tokenRequests
    },
    get workspace() {
      return workspace
    },
    /** The administrator of the domain authorises the service account. */
    authorise(domain: string, changes: Partial<Workspace> = {}): Workspace {
      workspace = {
        scopes: DELEGATED_SCOPES,
        domain,
        admins: [],
        suspended: new Set(),
        keyIds: ['key-1'],
        serviceAccount: 'enabled',
        isDirectoryEnabled: true,
        ...changes,
      }
      return workspace
    },
  }
}

const unauthorized = () =>
  oauthError(
    'unauthorized_client',
    'Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of the scopes requested.',
    401,
  )
