import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Tx } from '../../db/index.ts'

/** One action of an operator or of a program with a key. Contains no secrets. */
export interface AuditEntry {
  /** The owner of the key or session; `public` for an attempt to sign in. */
  actor: string
  /** `endpoint.created` */
  action: string
  /** The id of what was changed. */
  target: string | null
  requestId: string
  address: string
  details: Readonly<Record<string, unknown>>
}

/** Where entries are stored. */
export interface AuditLog {
  record(tx: Tx, entry: AuditEntry): Promise<void>
  /** In a transaction of its own. */
  recordAlone(entry: AuditEntry): Promise<void>
}

/** Facts that a handler knows better than its route. */
interface AuditFacts {
  action?: string
  /** Default: `id` or `accountId` of the result, else the last parameter of the path, which may be an alias. */
  target?: string | null
  details?: Readonly<Record<string, unknown>>
  /** The response. */
  result?: unknown
}

interface Audited {
  action: string | ((request: FastifyRequest) => string)
  /** Default: the names of the members of the body, never their values, which may be secret. */
  details?(request: FastifyRequest): Readonly<Record<string, unknown>>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The audit log records each request that succeeds. The response must be JSON: nothing else is recorded by itself. */
    audit?: string | Audited
  }
  interface FastifyRequest {
    /**
     * Records the action of the route in the transaction of the change. `Idempotency.writing` calls it for every POST. When nothing
     * did, the server records the action in a transaction of its own before it responds. No effect on routes without `audit`, and
     * when called again with the same transaction.
     */
    recordAudit(tx: Tx, facts?: AuditFacts): Promise<void>
    /** The transaction with the entry. A repeated transaction is another one. */
    auditedIn: Tx | undefined
  }
}

const MAX_NAMES = 50

export function addAudit(
  app: FastifyInstance,
  log: AuditLog | undefined,
  isWriting: (handler: unknown) => boolean,
): void {
  app.decorateRequest('auditedIn', undefined)
  app.decorateRequest('recordAudit', async function recordAudit(this: FastifyRequest, tx: Tx, facts: AuditFacts = {}) {
    const { audit } = this.routeOptions.config
    if (log === undefined || audit === undefined || this.auditedIn === tx) return
    await log.record(tx, buildEntry(this, audit, facts))
    this.auditedIn = tx
  })
  app.addHook('onRoute', (route) => {
    const audit = route.config?.audit
    if (log === undefined || audit === undefined || isWriting(route.handler)) return
    route.preSerialization = [
      ...[route.preSerialization ?? []].flat(),
      async (request, reply, result) => {
        if (reply.statusCode < 300 && request.auditedIn === undefined) {
          await log.recordAlone(buildEntry(request, audit, { result }))
        }
        return result
      },
    ]
  })
}

function buildEntry(request: FastifyRequest, audit: string | Audited, facts: AuditFacts): AuditEntry {
  const { action, details = changedMembers } = typeof audit === 'string' ? { action: audit } : audit
  const { target = findTarget(request, facts.result) } = facts
  return {
    actor: request.caller?.owner ?? 'public',
    action: facts.action ?? (typeof action === 'string' ? action : action(request)),
    target,
    requestId: request.id,
    address: request.ip,
    details: facts.details ?? details(request),
  }
}

function findTarget(request: FastifyRequest, result: unknown): string | null {
  const { id, accountId = null } = Object(result)
  const named = id ?? accountId
  if (typeof named === 'string') return named
  const last = Object.values(Object(request.params)).at(-1)
  return typeof last === 'string' ? last : null
}

/** Only known members: others may have any name. */
function changedMembers({ body, routeOptions: { schema } }: FastifyRequest): Readonly<Record<string, unknown>> {
  const names = Object.keys(Object(Object(schema?.body).properties))
  const changed = Object.keys(Object(body)).filter((name) => names.includes(name))
  return changed.length === 0 ? {} : { changed: changed.slice(0, MAX_NAMES) }
}
