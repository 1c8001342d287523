import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { AppError } from '../../../lib/errors.ts'
import type { Guard } from './rate-limit.ts'

/**
 * The credentials that a route requires. Every route declares one of them, else the server does not start.
 * - `public`: none; credentials are ignored.
 * - `open:…`: none, or a key with that scope, which sets `caller`. A key that is not valid is refused.
 * - `session`: the handler checks the code and state of the hosted flow. A valid key, if sent, sets `caller`.
 * - `key:…`: a key with that scope, checked before the body is read.
 */
export type Access = 'public' | 'open:read' | 'open:write' | 'session' | 'key:read' | 'key:write' | 'key:admin'

export type Scope = 'read' | 'write' | 'admin'

export interface Caller {
  /** Identifies the key in logs and idempotency records. Never the key itself. */
  owner: string
  scopes: readonly Scope[]
}

/** Finds the caller of a request by its credentials. */
export interface Authenticator {
  /** Undefined without valid credentials. */
  authenticate(request: FastifyRequest): Promise<Caller | undefined>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
  }
  interface FastifyRequest {
    /** Set on keyed routes, and on `open` and `session` routes when a valid key was sent. */
    caller: Caller | undefined
  }
}

const BEARER = /^bearer +(\S+) *$/i

/** The key in the request: `Authorization: Bearer <key>`, else `x-api-key`. */
export function sentKey(request: FastifyRequest): string | undefined {
  const bearer = BEARER.exec(request.headers.authorization ?? '')?.[1]
  const alias = request.headers['x-api-key']
  return bearer ?? (typeof alias === 'string' && alias !== '' ? alias : undefined)
}

export interface AccessChecks {
  /** Sets the caller of an open route, before its limits per address are counted. Throws as `requireKey` for a wrong key. */
  findCaller: onRequestAsyncHookHandler
  /** Checks the access that the route declares. An onRequest hook, so that it runs before the body is read. */
  guard: onRequestAsyncHookHandler
  /** Throws `unauthorized` without a valid key, and `forbidden` when the key lacks the scope. */
  requireKey(request: FastifyRequest, reply: FastifyReply, access: Access): Promise<void>
}

export function accessChecks(authenticator: Authenticator, onWrongKey: Guard): AccessChecks {
  async function callerOf(request: FastifyRequest, reply: FastifyReply): Promise<Caller | undefined> {
    const caller = await authenticator.authenticate(request)
    if (caller === undefined && sentKey(request) !== undefined) await onWrongKey(request, reply)
    return caller
  }

  async function requireKey(request: FastifyRequest, reply: FastifyReply, access: Access): Promise<void> {
    const caller = await callerOf(request, reply)
    if (caller === undefined) {
      if (sentKey(request) === undefined) {
        throw new AppError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
      }
      throw new AppError('unauthorized', {
        message: 'This API key is not valid. Compare it with the SERVICE_API_KEY of the service.',
        headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
      })
    }
    request.caller = caller
    const scope = scopeOf(access)
    if (scope !== undefined && !caller.scopes.includes(scope)) {
      throw new AppError('forbidden', { message: `This request requires a key with the scope "${scope}".` })
    }
  }

  return {
    requireKey,
    async findCaller(request, reply) {
      const { access } = request.routeOptions.config
      if (access?.startsWith('open:') && sentKey(request) !== undefined) await requireKey(request, reply, access)
    },
    async guard(request, reply) {
      const { access } = request.routeOptions.config
      if (access === undefined || access === 'public' || access.startsWith('open:')) return
      if (access === 'session') request.caller = await callerOf(request, reply)
      else await requireKey(request, reply, access)
    },
  }
}

function scopeOf(access: Access): Scope | undefined {
  switch (access) {
    case 'open:read':
    case 'key:read':
      return 'read'
    case 'open:write':
    case 'key:write':
      return 'write'
    case 'key:admin':
      return 'admin'
    default:
      return undefined
  }
}
