import type { Route, Routed } from '../fake/router.ts'
import type { Grant } from '../fake/tokens.ts'
import type { Workspace } from './delegation.ts'
import { badRequest, googleError, missingScope } from './errors.ts'

const SCOPE = 'https://www.googleapis.com/auth/admin.directory.user.readonly'
const USERS = '/admin/directory/v1/users'

export interface DirectoryDeps {
  workspace(): Workspace | undefined
  users(): { email: string; name: string; id: string }[]
  /** The current address of a user. */
  addressOf(user: string): string
  findGrant(request: Routed): Grant | undefined
}

/** The users of a Google Workspace, for its administrators. */
export function directoryRoutes({ workspace, users, addressOf, findGrant }: DirectoryDeps): Route[] {
  function refusal(request: Routed): Response | undefined {
    const grant = findGrant(request)
    if (workspace()?.isDirectoryEnabled === false) {
      const message = 'Admin SDK API has not been used in project 1234 before or it is disabled.'
      return googleError(403, 'accessNotConfigured', 'PERMISSION_DENIED', message, { domain: 'usageLimits' })
    }
    if (!grant?.scopes.includes(SCOPE)) return missingScope()
    if (workspace()?.admins.includes(grant.user)) return undefined
    return googleError(403, 'forbidden', 'PERMISSION_DENIED', 'Not Authorized to access this resource/api')
  }

  const ofDomain = () =>
    users()
      .map((user) => ({ ...user, email: addressOf(user.email) }))
      .filter(({ email }) => email.endsWith(`@${workspace()?.domain}`))
      .toSorted((a, b) => a.email.localeCompare(b.email))

  function list(request: Routed): Response {
    const refused = refusal(request)
    if (refused) return refused
    const { searchParams } = request.url
    if (searchParams.get('customer') !== 'my_customer') return badRequest('Bad Request')
    const query = searchParams.get('query')
    const prefix = query === null ? '' : /^email:([^\s*]+)\*$/.exec(query)?.[1]
    const name = query === null ? undefined : /^name:'([^']*)'$/.exec(query)?.[1]
    if (prefix === undefined && name === undefined) return badRequest('Invalid Input: query')
    const found = ofDomain().filter((user) =>
      name === undefined ? user.email.startsWith(prefix ?? '') : user.name === name,
    )
    const size = Math.min(Number(searchParams.get('maxResults') ?? 100), 500)
    const from = Number(searchParams.get('pageToken') ?? 0)
    if (!Number.isInteger(from)) return badRequest('Invalid Input: pageToken')
    const shown = found.slice(from, from + size)
    return Response.json({
      kind: 'admin#directory#users',
      ...(shown.length > 0 && { users: shown.map(userResource) }),
      ...(from + size < found.length && { nextPageToken: String(from + size) }),
    })
  }

  function one(request: Routed): Response {
    const refused = refusal(request)
    if (refused) return refused
    const user = ofDomain().find(({ email, id }) => [email, id].includes(request.params.key ?? ''))
    if (user === undefined) return googleError(404, 'notFound', 'NOT_FOUND', 'Resource Not Found: userKey')
    return Response.json(userResource(user))
  }

  return [
    { method: 'GET', pattern: USERS, handle: list },
    { method: 'GET', pattern: `${USERS}/{key}`, handle: one },
  ]
}

function userResource({ id, email, name }: { id: string; email: string; name: string }) {
  return { kind: 'admin#directory#user', id, primaryEmail: email, name: { fullName: name } }
}
