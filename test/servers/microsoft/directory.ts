import type { Route, Routed } from '../fake/router.ts'
import type { Grant } from '../fake/tokens.ts'
import type { applications } from './applications.ts'
import type { UserRow } from './emulator.ts'
import { graphError, resourceNotFound } from './errors.ts'
import { skippedPage } from './resources.ts'

const forbidden = () =>
  graphError(403, 'Authorization_RequestDenied', 'Insufficient privileges to complete the operation.')
const unsupported = (message: string) => graphError(400, 'Request_UnsupportedQuery', message)

/** The users of a tenant, for its applications. */
export function directoryRoutes(
  directory: ReturnType<typeof applications>,
  findGrant: (request: Routed) => Grant | undefined,
): Route[] {
  const allowed = (request: Routed) => {
    const grant = findGrant(request)
    return grant?.application !== undefined && grant.scopes.some((role) => /^(User|Directory)\.Read/.test(role))
      ? grant.application.tenantId
      : undefined
  }

  function list(request: Routed): Response {
    const tenantId = allowed(request)
    if (tenantId === undefined) return forbidden()
    const { searchParams } = request.url
    const search = searchParams.get('$search')
    const filter = searchParams.get('$filter')
    const isEventual = request.headers.get('consistencylevel') === 'eventual'
    if (search !== null && !isEventual)
      return unsupported('Request with $search query parameter only works with ConsistencyLevel.')
    const mail = filter === null ? undefined : /^mail eq '(.*)'$/.exec(filter)?.[1]?.replaceAll("''", "'")
    if (filter !== null && mail === undefined) return unsupported('Unsupported or invalid query filter clause.')
    const words = [...(search ?? '').matchAll(/"(?:displayName|mail|userPrincipalName):([^"\\]*)"/g)].map(
      ([, word = '']) => word.toLowerCase(),
    )
    if (search !== null && words.length === 0) return graphError(400, 'BadRequest', 'Syntax error in $search.')
    const found = directory
      .usersOf(tenantId)
      .map((user) => ({ ...user, email: directory.addresses.of(user.email) }))
      .filter(({ email }) => mail === undefined || email === mail)
      .filter(({ email }) => search === null || words.some((word) => email.toLowerCase().startsWith(word)))
    return skippedPage(request, found.map(userResource), 100, '$skiptoken')
  }

  function one(request: Routed): Response {
    const tenantId = allowed(request)
    if (tenantId === undefined) return forbidden()
    const id = request.params.id ?? ''
    const user = directory.findUser(tenantId, id)
    if (user === undefined) return resourceNotFound(id)
    return Response.json(userResource({ ...user, email: directory.addresses.of(user.email) }))
  }

  return [
    { method: 'GET', pattern: '/v1.0/users', handle: list },
    { method: 'GET', pattern: '/v1.0/users/{id}', handle: one },
  ]
}

function userResource({ oid, email }: UserRow) {
  return { id: oid, displayName: email.split('@')[0], mail: email, userPrincipalName: email }
}
