import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { AppError } from '../../../lib/errors.ts'

/**
 * What a route demands of its caller; a route that declares none stops the server.
 * - `public`: anybody; credentials are not looked at.
 * - `session`: the handler itself checks the code and state of the hosted flow; a good key, when one is sent, sets `caller`.
 * - `key:…`: a key with that scope, checked before anything else of the request is looked at.
 */
export type Access = 'public' | 'session' | 'key:read' | 'key:write' | 'key:admin'

export type Scope = 'read' | 'write' | 'admin'

export interface Caller {
  /** Names the key in logs and idempotency records; never the key itself. */
  owner: string
  scopes: readonly Scope[]
}

/** Who sends this request? Given by the rooms that know keys (and the portal's cookie). */
export interface Authenticator {
  /** Undefined when nothing usable was sent. */
  authenticate(request: FastifyRequest): Promise<Caller | undefined>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
  }
  interface FastifyRequest {
    /** Set before the handler of a keyed route runs (and on `session` routes when a good key came); undefined elsewhere. */
    caller: Caller | undefined
  }
}

const BEARER = /^bearer +(\S+) *$/i

/** The key as it was sent: `Authorization: Bearer <key>`, else `x-api-key`. */
export function sentKey(request: FastifyRequest): string | undefined {
  const bearer = BEARER.exec(request.headers.authorization ?? '')?.[1]
  const alias = request.headers['x-api-key']
  return bearer ?? (typeof alias === 'string' && alias !== '' ? alias : undefined)
}

/** The guard at the door, as an onRequest hook: it runs before the body is read. */
export function accessGuard(authenticator: Authenticator): onRequestAsyncHookHandler {
  return async (request) => {
    const { access } = request.routeOptions.config
    if (access === undefined || access === 'public') return
    if (access === 'session') request.caller = await authenticator.authenticate(request)
    else await demandKey(authenticator, request, access)
  }
}

/** Throws `unauthorized` without a good key, `forbidden` when its scopes do not hold `access`. */
export async function demandKey(authenticator: Authenticator, request: FastifyRequest, access: Access): Promise<void> {
  const caller = await authenticator.authenticate(request)
  if (caller === undefined) {
    const challenge = sentKey(request) === undefined ? 'Bearer' : 'Bearer error="invalid_token"'
    throw new AppError('unauthorized', { headers: { 'www-authenticate': challenge } })
  }
  request.caller = caller
  const scope = scopeOf(access)
  if (scope !== undefined && !caller.scopes.includes(scope)) {
    throw new AppError('forbidden', { message: `This needs a key with the scope "${scope}".` })
  }
}

function scopeOf(access: Access): Scope | undefined {
  switch (access) {
    case 'key:read':
      return 'read'
    case 'key:write':
      return 'write'
    case 'key:admin':
      return 'admin'
    default:
      return undefined
  }
}
