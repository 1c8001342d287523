import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { AppError } from '../../../errors/app-error.ts'
import type { Guard } from './rate-limit.ts'

/**
 * The credentials that a route requires. Every route declares one of them, else the server does not start.
 * - `public`: none; credentials are ignored.
 * - `open:…`: none, or a key with that scope, which sets `caller`. A key that is not valid is refused. A session that is not
 *   valid counts as none, because a browser sends its cookie unasked.
 * - `session`: the handler checks the code and state of the hosted flow. A valid key, if sent, sets `caller`.
 * - `key:…`: a key with that scope, checked before the body is read.
 */
export type Access = 'public' | 'open:read' | 'open:write' | 'session' | 'key:read' | 'key:write' | 'key:admin'

export type Scope = 'read' | 'write' | 'admin'

export interface Caller {
  /** Identifies the key in logs and idempotency records. Never the key itself. */
  owner: string
  scopes: readonly Scope[]
  /** A browser with the cookie of the portal, whose pages poll. */
  isPortal?: boolean
}

/** Finds the caller of a request by its credentials: a key, or the cookie of a session. */
export interface Authenticator {
  /**
   * Undefined without valid credentials. Throws csrf_failed for a keyed route that needs more than the cookie. `isUse` is false
   * when it is asked again about a request that still runs.
   */
  authenticate(request: FastifyRequest, isUse: boolean): Promise<Caller | undefined>
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

/** Accepts what one of them accepts. They are asked in order. */
export function combineAuthenticators(...authenticators: readonly Authenticator[]): Authenticator {
  return {
    async authenticate(request, isUse) {
      for (const authenticator of authenticators) {
        const caller = await authenticator.authenticate(request, isUse)
        if (caller !== undefined) return caller
      }
      return undefined
    },
  }
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
  async function authenticateCaller(request: FastifyRequest, reply: FastifyReply): Promise<Caller | undefined> {
    const caller = await authenticator.authenticate(request, true)
    if (caller === undefined && sentKey(request) !== undefined) await onWrongKey(request, reply)
    return caller
  }

  async function requireKey(request: FastifyRequest, reply: FastifyReply, access: Access): Promise<void> {
    const caller = await authenticateCaller(request, reply)
    if (caller === undefined) {
      if (sentKey(request) === undefined) {
        throw new AppError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
      }
      throw new AppError('unauthorized', {
        message: 'This API key is not valid: it is unknown, was revoked, or has expired.',
        headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
      })
    }
    request.caller = caller
    const scope = requiredScope(access)
    if (scope !== undefined && !caller.scopes.includes(scope)) {
      throw new AppError('forbidden', {
        message: `This request requires a key with the scope "${scope}". This one has: ${caller.scopes.join(', ')}.`,
        headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
      })
    }
  }

  return {
    requireKey,
    async findCaller(request, reply) {
      const { access } = request.routeOptions.config
      if (!access?.startsWith('open:')) return
      if (sentKey(request) !== undefined) await requireKey(request, reply, access)
      else request.caller = await authenticator.authenticate(request, true)
    },
    async guard(request, reply) {
      const { access } = request.routeOptions.config
      if (access === undefined || access === 'public' || access.startsWith('open:')) return
      if (access === 'session') request.caller = await authenticateCaller(request, reply)
      else await requireKey(request, reply, access)
    },
  }
}

function requiredScope(access: Access): Scope | undefined {
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
