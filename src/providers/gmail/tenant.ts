import type { Clock } from '../../platform/time/clock.ts'
import {
  type AppToken,
  type DirectoryAccess,
  type DirectoryUser,
  ProviderError,
  type TenantCredentialsOf,
  type TenantProvider,
} from '../contract/index.ts'
import { parseRsaKey, requestAppToken, signedJwt, type TokenError } from '../shared/oauth/index.ts'
import {
  type Json,
  list,
  object,
  type RateLimit,
  type RestMailbox,
  type RestResponse,
  text,
} from '../shared/rest/index.ts'
import { googleError } from './errors.ts'
import { delegationRefusal } from './tenant-errors.ts'

interface GoogleTenantDeps {
  tokenUrl: string
  /** Requested for each mailbox. The administrator delegates all of them, or no token is issued. */
  scopes: readonly string[]
  clock: Clock
  openDirectory(access: DirectoryAccess): RestMailbox
}

type Credentials = TenantCredentialsOf<'gmail'>

const SERVICE = 'Google'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const DIRECTORY_SCOPE = 'https://www.googleapis.com/auth/admin.directory.user.readonly'
const USERS = '/admin/directory/v1/users'
/** Google's most is an hour. It refuses an assertion that was issued in the future by its clock. */
const LIFETIME_SECONDS = 3600
const SKEW_SECONDS = 30
const USER_FIELDS = 'id,primaryEmail,name/fullName'
const LISTING = 'listing the users of the domain'
const FINDING = 'looking up the user'
/** Google allows 2,400 requests a minute for a user of the project, here the administrator. */
export const DIRECTORY_RATE_LIMIT: RateLimit = { concurrency: 4, quota: { unitsPerMinute: 2400 } }

/** Domain-wide delegation: a service account signs a request for each user (RFC 7523 with `sub`). Each mailbox has a token. */
export function googleTenant({ tokenUrl, scopes, clock, openDirectory }: GoogleTenantDeps): TenantProvider<'gmail'> {
  /** Without `subject`, the token is of the service account itself. */
  function requestToken(
    { settings, secrets }: Credentials,
    { subject, scope }: { subject?: string; scope: string },
    explain = delegationRefusal,
  ): Promise<AppToken> {
    const key = parseRsaKey(secrets.privateKey)
    if (key === undefined) throw new ProviderError('auth_expired', 'the key of the service account cannot be read')
    const iat = Math.floor(clock.now() / 1000) - SKEW_SECONDS
    const times = { iat, exp: iat + LIFETIME_SECONDS }
    const sub = subject === undefined ? {} : { sub: subject }
    const claims = { iss: settings.serviceAccountEmail, ...sub, scope, aud: tokenUrl, ...times }
    const fields = { grant_type: GRANT, assertion: signedJwt({ alg: 'RS256', kid: settings.keyId }, claims, key) }
    const request = { scope, hasUser: subject !== undefined }
    return requestAppToken({ service: SERVICE, tokenUrl, fields, clock, explain: (error) => explain(error, request) })
  }

  return {
    hasTokenPerMailbox: true,
    mailboxSettings: (_user, { serviceAccountEmail }) => ({ google: { project: projectOf(serviceAccountEmail) } }),
    // Nothing that a mailbox of Gmail shows identifies it.
    identifiedBy: (settings) => settings,

    // Google checks the delegation for a user only. Without one, the token shows that the key and the service account exist.
    async verify(credentials) {
      const { adminEmail } = credentials.settings
      const subject = adminEmail === null ? {} : { subject: adminEmail }
      await requestToken(credentials, { ...subject, scope: scopes.join(' ') })
    },

    async requestToken(credentials, purpose) {
      if (purpose !== 'directory') {
        return requestToken(credentials, { subject: purpose.mailbox, scope: scopes.join(' ') })
      }
      const { adminEmail } = credentials.settings
      if (adminEmail === null) throw directoryDenied('the connection has no adminEmail')
      return requestToken(credentials, { subject: adminEmail, scope: DIRECTORY_SCOPE }, directoryRefusal)
    },

    async listUsers(access, { q, limit, next }) {
      const query = {
        customer: 'my_customer',
        orderBy: 'email',
        maxResults: limit,
        fields: `nextPageToken,users(${USER_FIELDS})`,
        ...(q !== undefined && { query: searchClause(q) }),
        ...(next !== undefined && { pageToken: next }),
      }
      const page = await openDirectory(access).json({ method: 'GET', path: USERS, query, doing: LISTING }, object)
      return { users: list(page.users).map(object).flatMap(toUser), next: text(page.nextPageToken) || null }
    },

    async findUser(access, emailOrId) {
      const path = `${USERS}/${encodeURIComponent(emailOrId)}`
      const request = { method: 'GET' as const, path, query: { fields: USER_FIELDS }, doing: FINDING }
      try {
        return toUser(await openDirectory(access).json(request, object))[0]
      } catch (error) {
        if (error instanceof ProviderError && error.kind === 'not_found') return undefined
        throw error
      }
    },
  }
}

/** `name@<project>.iam.gserviceaccount.com`. */
function projectOf(serviceAccountEmail: string): string {
  return serviceAccountEmail.slice(serviceAccountEmail.indexOf('@') + 1)
}

/** The beginning of an address, or the whole name. A quote, a colon or an asterisk would be an operator. */
function searchClause(q: string): string {
  const words = q.replaceAll(/['"\\:*=]/g, ' ').trim()
  return words.includes(' ') ? `name:'${words}'` : `email:${words}*`
}

function toUser({ id, primaryEmail, name }: Json): DirectoryUser[] {
  const [userId, email] = [text(id), text(primaryEmail)]
  if (userId === undefined || email === undefined) return []
  return [{ id: userId, email, name: text(object(name).fullName) ?? '' }]
}

/** The mailboxes do not depend on the directory, so its refusal is none of the credentials. */
function directoryRefusal(
  error: TokenError,
  request: Parameters<typeof delegationRefusal>[1],
): ProviderError | undefined {
  const refusal = delegationRefusal(error, request)
  if (refusal === undefined || refusal.credential === 'serviceAccountKey') return refusal
  return directoryDenied(refusal.message)
}

function directoryDenied(why: string): ProviderError {
  const how =
    'Only an administrator of the domain may read its directory: set adminEmail, and delegate the scope admin.directory.user.readonly. Mailboxes can be connected by their addresses without it'
  const options = { missingScope: true, isOfApplication: true }
  return new ProviderError('rejected', `reading the directory: ${why}. ${how}`, options)
}

export function directoryError(response: RestResponse, doing: string, nowMs: number): ProviderError {
  const error = googleError(response, doing, nowMs, DIRECTORY)
  return response.status === 403 && error.kind === 'rejected' ? directoryDenied(error.message) : error
}

const DIRECTORY = { name: 'the Admin SDK API (admin.googleapis.com)', scope: 'admin.directory.user.readonly' }

/** The Admin SDK has a host of its own, unless the settings lead to a proxy or an emulator. */
export function directoryRoot(apiUrl: string): string {
  return new URL(apiUrl).hostname === 'www.googleapis.com' ? 'https://admin.googleapis.com' : apiUrl
}
