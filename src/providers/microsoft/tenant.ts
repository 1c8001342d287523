import { randomUUID } from 'node:crypto'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type DirectoryAccess,
  type DirectoryPage,
  type DirectoryQuery,
  type DirectoryUser,
  ProviderError,
  type TenantCredentialsOf,
  type TenantProvider,
} from '../contract/index.ts'
import { parseRsaKey, requestAppToken, signedJwt } from '../shared/oauth/index.ts'
import { type Json, text } from '../shared/rest/index.ts'
import { type Graph, segment } from './client.ts'
import { isNationalCloud } from './clouds.ts'
import { tenantRefusal } from './tenant-errors.ts'

interface MicrosoftTenantDeps {
  loginUrl: string
  graphUrl: string
  clock: Clock
  openGraph(access: DirectoryAccess): Graph
}

type Credentials = Pick<TenantCredentialsOf<'microsoft'>, 'settings' | 'secrets'>

const SERVICE = 'Microsoft'
const WORLDWIDE = 'https://graph.microsoft.com'
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** Entra refuses assertions that are valid for more than ten minutes, and those from the future. */
const ASSERTION_SECONDS = 300
const SKEW_SECONDS = 60
const SHA1_BYTES = 20
const USER_FIELDS = 'id,displayName,mail,userPrincipalName'
const LISTING = 'listing the users of the tenant'
const FINDING = 'looking up the user'

/** Application permissions: client credentials with a secret or a certificate. One token opens every mailbox of the tenant. */
export function microsoftTenant({
  loginUrl,
  graphUrl,
  clock,
  openGraph,
}: MicrosoftTenantDeps): TenantProvider<'microsoft'> {
  const { origin, hostname } = new URL(graphUrl)
  const scope = `${isNationalCloud(hostname) ? origin : WORLDWIDE}/.default`

  function requestToken({ settings, secrets }: Credentials) {
    const { tenantId, clientId } = settings
    const tokenUrl = `${loginUrl.replace(/\/$/, '')}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`
    const credential =
      secrets.clientSecret === undefined
        ? {
            client_assertion_type: ASSERTION_TYPE,
            client_assertion: clientAssertion({ settings, secrets }, tokenUrl, clock.now()),
          }
        : { client_secret: secrets.clientSecret }
    const fields = { grant_type: 'client_credentials', client_id: clientId, scope, ...credential }
    return requestAppToken({ service: SERVICE, tokenUrl, fields, clock, explain: tenantRefusal })
  }

  return {
    hasTokenPerMailbox: false,
    mailboxSettings: (user) => ({ graph: { user } }),
    identifiedBy(settings, folders) {
      const inbox = folders.find(({ role }) => role === 'inbox')?.path
      const { graph } = settings
      return graph === undefined || inbox === undefined ? settings : { ...settings, graph: { ...graph, inbox } }
    },
    requestToken: (credentials) => requestToken(credentials),
    async verify(credentials) {
      await requestToken(credentials)
    },

    async listUsers(access, query) {
      const graph = openGraph(access)
      const page = await graph.page(pagePath(query), { doing: LISTING, isEventual: true })
      const next = page.nextLink === undefined ? null : graph.resolvePath(page.nextLink, LISTING)
      return { users: page.items.flatMap(toUser), next } satisfies DirectoryPage
    },

    async findUser(access, emailOrId) {
      const graph = openGraph(access)
      const query = { $select: USER_FIELDS }
      try {
        const user = await graph.get(`/users/${segment(emailOrId)}`, { query, doing: FINDING }, (body) => Object(body))
        return toUser(user)[0]
      } catch (error) {
        if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
      }
      // The address may differ from the name that the user signs in with.
      const filter = { ...query, $filter: `mail eq '${emailOrId.replaceAll("'", "''")}'` }
      const { items } = await graph.page('/users', { query: filter, doing: FINDING, isEventual: true })
      return items.flatMap(toUser)[0]
    },
  }
}

/** The path of a page, or of the first one. A caller may have forged `next`: it leads to nothing but this list. */
function pagePath({ q, limit, next }: DirectoryQuery): string {
  if (next !== undefined) {
    if (next.startsWith('/users?')) return next
    throw new ProviderError('rejected', `${LISTING}: the page token is not one of this list`)
  }
  const search = q === undefined ? undefined : searchClause(q)
  const query = new URLSearchParams({
    $select: USER_FIELDS,
    $top: String(limit),
    $count: 'true',
    ...(search !== undefined && { $search: search }),
  })
  return `/users?${query}`
}

/** `$search` takes words in quotes; a quote or a backslash inside would end them. */
function searchClause(q: string): string {
  const words = q.replaceAll(/["\\]/g, ' ').trim()
  return ['displayName', 'mail', 'userPrincipalName'].map((field) => `"${field}:${words}"`).join(' OR ')
}

/** None for a user without an address, such as most guests and service accounts. */
function toUser({ id, mail, userPrincipalName, displayName }: Json): DirectoryUser[] {
  const email = [text(mail), text(userPrincipalName)].find((address) => address?.includes('@'))
  const userId = text(id)
  if (userId === undefined || email === undefined) return []
  return [{ id: userId, email, name: text(displayName) ?? '' }]
}

/** A JWT that the application signs with its certificate's key (RFC 7523). */
function clientAssertion({ settings, secrets }: Credentials, audience: string, nowMs: number): string {
  const key = parseRsaKey(secrets.privateKey ?? '')
  if (key === undefined) throw new ProviderError('auth_expired', 'the private key of the connection cannot be read')
  const thumbprint = Buffer.from(settings.thumbprint ?? '', 'hex')
  const iat = Math.floor(nowMs / 1000) - SKEW_SECONDS
  const times = { iat, nbf: iat, exp: iat + SKEW_SECONDS + ASSERTION_SECONDS }
  const { clientId } = settings
  const print = thumbprint.toString('base64url')
  // Entra recommends SHA-256, and accepts SHA-1, which the portal shows.
  const header =
    thumbprint.length === SHA1_BYTES
      ? { alg: 'RS256' as const, x5t: print }
      : { alg: 'PS256' as const, 'x5t#S256': print }
  return signedJwt(header, { aud: audience, iss: clientId, sub: clientId, jti: randomUUID(), ...times }, key)
}
