import type { FastifyRequest } from 'fastify'

/** What a route demands of its caller. A route that declares none stops the server from starting. */
export type Access = 'public' | 'session' | 'key:read' | 'key:write' | 'key:admin'

export interface Caller {
  /** Names the key in logs and idempotency records; never the key itself. */
  owner: string
  scopes: readonly ('read' | 'write' | 'admin')[]
}

/** Who sends this request? Given by the rooms that know keys (and the portal's cookie). */
export interface Authenticator {
  /** Undefined when nothing usable was sent. */
  authenticate(request: FastifyRequest): Promise<Caller | undefined>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** Upper limit of the body in bytes where 1 MB is not enough. */
  }
  interface FastifyRequest {
    /** Set on keyed routes before the handler runs; undefined on public ones. */
    caller: Caller | undefined
  }
}
