import type { FastifySchema } from 'fastify'
import type { Db } from '../../infra/db/index.ts'
import {
  type Answer,
  asAppError,
  type Handler,
  type Idempotency,
  type Prepare,
  type TypedReply,
  type TypedRequest,
} from '../../infra/http/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AppError } from '../../lib/errors.ts'
import type { Sealer } from '../../lib/seal.ts'
import { isKept, keptError, REPLAYED } from './answer.ts'
import { type Fingerprint, fingerprint } from './fingerprint.ts'
import { claims, stillRunning } from './keys.ts'
import type { Lease } from './store.ts'

export interface IdempotencyDeps {
  db: Db
  clock: Clock
  sealer: Sealer
}

/**
 * ```
 * claim (own transaction) ─ done ──────────────→ the first answer
 *   │ ours                └ running / other body → 409 / 422
 * prepare: checks, remote work
 *   │
 * one transaction: effects + answer ─ commit ──→ answer
 *   └ error: 4xx is kept, anything else frees the key
 * ```
 * A crash before the commit leaves a lease that runs out, after which a repeat starts over; a crash after it
 * leaves the answer.
 */
export function idempotency({ db, clock, sealer }: IdempotencyDeps): Idempotency {
  const keys = claims({ db, clock, sealer })
  const written = new WeakSet<object>()

  async function once<Schema extends FastifySchema>(
    print: Fingerprint,
    prepare: Prepare<Schema>,
    request: TypedRequest<Schema>,
    reply: TypedReply<Schema>,
  ): Promise<Answer<Schema>> {
    const claim = await keys.claim(print)
    if (!('lease' in claim)) {
      reply.statusCode = claim.status
      reply.headers(REPLAYED)
      // It was written by this route's own schema.
      return claim.body as Answer<Schema>
    }
    try {
      const commit = await prepare(request, reply)
      return await db.transaction(async (tx) => {
        const answer = await commit(tx)
        // The answer as the route's schema writes it, so that a repeat reads the same.
        const body: unknown = JSON.parse(String(reply.serialize(answer)))
        const kept = await keys.finish(tx, claim.lease, reply.statusCode, { body })
        if (!kept) throw stillRunning()
        return answer
      })
    } catch (error) {
      await settle(claim.lease, asAppError(error))
      throw error
    }
  }

  /** Where the lease was lost meanwhile neither changes anything. */
  async function settle(lease: Lease, error: AppError): Promise<void> {
    if (isKept(error)) await db.transaction((tx) => keys.finish(tx, lease, error.status, keptError(error)))
    else await keys.release(lease)
  }

  return {
    writing<Schema extends FastifySchema>(prepare: Prepare<Schema>) {
      const handler: Handler<Schema> = async (request, reply) => {
        const print = fingerprint(request)
        return print === undefined
          ? db.transaction(await prepare(request, reply))
          : once(print, prepare, request, reply)
      }
      written.add(handler)
      return handler
    },
    isWriting: (handler) => typeof handler === 'function' && written.has(handler),
  }
}
