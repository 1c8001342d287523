import { constants, randomBytes, timingSafeEqual, verify, X509Certificate } from 'node:crypto'
import { Addresses } from '../fake/addresses.ts'
import type { Routed } from '../fake/router.ts'
import type { Grant, Tokens } from '../fake/tokens.ts'
import { client, type Emulator, type UserRow } from './emulator.ts'
import { accessDenied, graphError, itemNotFound, noMailbox, oauthError, resourceNotFound } from './errors.ts'

/** An application's permissions for a whole tenant, as its administrator consented to them. */
export interface Tenant {
  /** Application permissions, such as `Mail.ReadWrite`. */
  roles: string[]
  secret: string
  isSecretExpired: boolean
  /** PEM. */
  certificates: string[]
  /** Addresses that an application access policy excludes. */
  excluded: Set<string>
  /** Addresses outside the scope of its roles in Exchange Online (RBAC for Applications). */
  outOfScope: Set<string>
  /** No administrator has consented, or access was withdrawn. */
  isUnknown: boolean
}

const TENANT_ROLES = ['Mail.ReadWrite', 'Mail.Send', 'Calendars.ReadWrite', 'User.Read.All']
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** `hidden`: none, and Exchange returns 404 in place of 403, as for mailboxes that are gone. */
type Right = 'read' | 'send' | 'hidden'

/** How Graph refuses the mailbox of another user, whatever the rights are. */
const REFUSALS = {
  'access-denied': accessDenied,
  /** Its user was deleted. */
  deleted: (id: string) => graphError(404, 'ErrorInvalidUser', `The requested user '${id}' is invalid.`),
  /** The directory says so of a user who was deleted, in place of Exchange. */
  'unknown-resource': resourceNotFound,
  'no-mailbox': noMailbox,
} as const satisfies Record<string, (id: string) => Response>

export type MailboxRefusal = keyof typeof REFUSALS

/** Client credentials of Entra (with a secret or a certificate), and what Graph allows their tokens. */
export function applications(emulator: Emulator, tokens: Tokens, url: string) {
  const tenants = new Map<string, Tenant>()
  const addresses = new Addresses()
  /** The rights of users in mailboxes of others, by mailbox and user. */
  const rights = new Map<string, Right>()
  const refusals = new Map<string, MailboxRefusal>()
  let tokenRequests = 0
  let running = 0
  let peak = 0
  const pace = { latencyMs: 0 }

  function issue(tenantId: string, { roles }: Tenant): Response {
    const accessToken = `eyJ0eXAiOiJKV1Qi.${randomBytes(32).toString('base64url')}.${randomBytes(16).toString('base64url')}`
    tokens.issue(accessToken, { user: '', scopes: roles, refreshToken: null, application: { tenantId } })
    const lifetime = { expires_in: tokens.lifetime, ext_expires_in: tokens.lifetime }
    return Response.json({ token_type: 'Bearer', ...lifetime, access_token: accessToken })
  }

  function refuseAssertion(tenantId: string, tenant: Tenant, assertion: string): Response | undefined {
    const [head = '', body = '', signature = ''] = assertion.split('.')
    const header = JSON.parse(Buffer.from(head, 'base64url').toString())
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
    const invalid = (number: number, text: string) => oauthError('invalid_client', number, text, 401)
    const certificate = tenant.certificates
      .map((pem) => new X509Certificate(pem))
      .find(({ fingerprint, fingerprint256 }) => {
        const print = (hex: string) => Buffer.from(hex.replaceAll(':', ''), 'hex').toString('base64url')
        return header.x5t === print(fingerprint) || header['x5t#S256'] === print(fingerprint256)
      })
    if (certificate === undefined)
      return invalid(700027, 'The certificate with identifier used to sign the client assertion is not registered.')
    const key = certificate.publicKey
    const signed = Buffer.from(`${head}.${body}`)
    const padding = header.alg === 'PS256' ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING
    const isSigned = verify('sha256', signed, { key, padding, saltLength: 32 }, Buffer.from(signature, 'base64url'))
    if (!isSigned) return invalid(700027, 'Client assertion failed signature validation.')
    if (claims.aud !== `${url}/${tenantId}/oauth2/v2.0/token`)
      return invalid(700023, 'Client assertion audience claim does not match Realm issuer.')
    if (claims.iss !== client.id || claims.sub !== client.id || typeof claims.jti !== 'string')
      return invalid(700021, 'Client assertion application identifier does not match the client id.')
    const now = Date.now() / 1000
    if (!(claims.nbf <= now + 300) || !(claims.exp > now - 300) || claims.exp - claims.nbf > 660)
      return invalid(700024, 'Client assertion is not within its valid time range.')
    return undefined
  }

  /** `grant_type=client_credentials`. */
  async function token(request: Routed, fields: URLSearchParams): Promise<Response> {
    tokenRequests += 1
    running += 1
    peak = Math.max(peak, running)
    await new Promise((resolve) => setTimeout(resolve, pace.latencyMs))
    running -= 1
    return issueOrRefuse(request, fields)
  }

  function issueOrRefuse(request: Routed, fields: URLSearchParams): Response {
    const tenantId = request.params.tenant ?? ''
    const tenant = tenants.get(tenantId)
    if (tenant === undefined)
      return oauthError(
        'invalid_request',
        90002,
        `Tenant '${tenantId}' not found. Check that the tenant id is correct.`,
      )
    if (!fields.get('scope')?.endsWith('/.default'))
      return oauthError('invalid_scope', 1002012, 'Client credential flows must have a scope value with /.default.')
    if (fields.get('client_id') !== client.id || tenant.isUnknown)
      return oauthError('unauthorized_client', 700016, 'Application was not found in the directory.')
    if (fields.get('client_assertion_type') === ASSERTION_TYPE) {
      return refuseAssertion(tenantId, tenant, fields.get('client_assertion') ?? '') ?? issue(tenantId, tenant)
    }
    const secret = fields.get('client_secret')
    if (secret === null)
      return oauthError('invalid_client', 7000216, "'client_assertion' or 'client_secret' is required.", 401)
    if (!isEqual(secret, tenant.secret)) return oauthError('invalid_client', 7000215, 'Invalid client secret.', 401)
    if (tenant.isSecretExpired)
      return oauthError('invalid_client', 7000222, 'The provided client secret keys are expired.', 401)
    return issue(tenantId, tenant)
  }

  const usersOf = (tenantId: string): UserRow[] =>
    emulator.microsoft.users.findBy('tenant_id', tenantId).toSorted((a, b) => a.email.localeCompare(b.email))

  /** The user of the tenant with this id or address. */
  function findUser(tenantId: string, idOrAddress: string): UserRow | undefined {
    const wanted = idOrAddress.toLowerCase()
    const { users } = emulator.microsoft
    const found = users.findOneBy('oid', wanted) ?? users.findOneBy('email', addresses.userAt(wanted) ?? '')
    return found?.tenant_id === tenantId ? found : undefined
  }

  /** The mailbox that the path below `/users/{id}` leads to, or why it leads to none. */
  function openMailbox(grant: Grant, idOrAddress: string): string | Response {
    const own = emulator.microsoft.users.findOneBy('email', grant.user)
    const tenantId = grant.application?.tenantId ?? own?.tenant_id ?? ''
    const user = findUser(tenantId, idOrAddress)
    const isOpen =
      grant.application !== undefined || user?.email === grant.user || rights.has(`${user?.email} ${grant.user}`)
    const refusal = refusals.get(user?.email ?? '')
    if (refusal !== undefined && user?.email !== grant.user) return REFUSALS[refusal](idOrAddress)
    if (rights.get(`${user?.email} ${grant.user}`) === 'hidden') return itemNotFound()
    if (user !== undefined && !isOpen) return accessDenied()
    if (user === undefined) return REFUSALS.deleted(idOrAddress)
    if (tenants.get(tenantId)?.excluded.has(user.email)) return outsidePolicy()
    if (grant.application !== undefined && tenants.get(tenantId)?.outOfScope.has(user.email)) return accessDenied()
    return user.email
  }

  return {
    /** Gives a user Full Access to the mailbox of another, with or without Send As; null: takes it away. */
    share(mailbox: string, user: string, right: Right | null): void {
      if (right === null) rights.delete(`${mailbox} ${user}`)
      else rights.set(`${mailbox} ${user}`, right)
    },
    /** Refuses the mailbox to everybody but its owner; null ends that. */
    refuse(mailbox: string, refusal: MailboxRefusal | null): void {
      if (refusal === null) refusals.delete(mailbox)
      else refusals.set(mailbox, refusal)
    },
    /** Whether a person may send from the mailbox of another. */
    maySend: (mailbox: string, user: string) => rights.get(`${mailbox} ${user}`) === 'send',
    addresses,
    openMailbox,
    token,
    usersOf,
    findUser,
    /** How long a request for a token takes. */
    pace,
    get tokenRequests() {
      return tokenRequests
    },
    get runningTokenRequests() {
      return running
    },
    /** The most requests for tokens at a time. */
    get peakTokenRequests() {
      return peak
    },
    /** The administrator of the tenant consents to the application. */
    consent(tenantId: string, changes: Partial<Tenant> = {}): Tenant {
      const tenant: Tenant = {
        roles: TENANT_ROLES,
        secret: 'tenant-secret',
        isSecretExpired: false,
        certificates: [],
        excluded: new Set(),
        outOfScope: new Set(),
        isUnknown: false,
        ...changes,
      }
      tenants.set(tenantId, tenant)
      return tenant
    },
  }
}

function isEqual(left: string, right: string): boolean {
  return left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right))
}

const outsidePolicy = () =>
  graphError(
    403,
    'ErrorAccessDenied',
    'Access to OData is disabled: [RAOP] : Blocked by tenant configured AppOnly AccessPolicy settings.',
  )
