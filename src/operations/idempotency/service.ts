import type { FastifySchema } from 'fastify'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Db } from '../../platform/db/index.ts'
import {
  asAppError,
  type Handler,
  type Idempotency,
  type Prepare,
  type ResponseBody,
  type TypedReply,
  type TypedRequest,
} from '../../platform/http/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type Fingerprint, fingerprint } from './fingerprint.ts'
import { REPLAYED_HEADERS, stillRunning, storedResponses } from './stored-responses.ts'

export interface IdempotencyDeps {
  db: Db
  clock: Clock
  sealer: Sealer
}

/**
 * ```
 * claim (own transaction) ── done ─────────────────→ stored response
 *   │ lease taken          └ running / other body ─→ 409 / 422
 * prepare: checks, remote calls
 *   │
 * one transaction: effects + response ── commit ───→ response
 *   └ error: a 4xx is stored, anything else releases the key
 * ```
 * After a crash before the commit, the lease expires and a retry starts over. After a crash behind the commit, a retry
 * gets the stored response.
 */
export function idempotency({ db, clock, sealer }: IdempotencyDeps): Idempotency {
  const responses = storedResponses({ db, clock, sealer })
  const wrapped = new WeakSet<object>()

  async function runOnce<Schema extends FastifySchema>(
    print: Fingerprint,
    prepare: Prepare<Schema>,
    request: TypedRequest<Schema>,
    reply: TypedReply<Schema>,
  ): Promise<ResponseBody<Schema>> {
    const claim = await responses.claim(print)
    if (!('lease' in claim)) {
      reply.statusCode = claim.status
      reply.headers(REPLAYED_HEADERS)
      // The schema of this route serialised it.
      return claim.body as ResponseBody<Schema>
    }
    try {
      const commit = await prepare(request, reply, print.id)
      return await db.transaction(async (tx) => {
        const response = await commit(tx)
        await request.recordAudit(tx, { result: response })
        // Stored as the route's schema serialises it, so that a replay is identical.
        const body: unknown = JSON.parse(String(reply.serialize(response)))
        const finished = await responses.finish(tx, claim.lease, reply.statusCode, { body })
        if (!finished) throw stillRunning()
        return response
      })
    } catch (error) {
      await responses.fail(claim.lease, asAppError(error))
      throw error
    }
  }

  return {
    writing<Schema extends FastifySchema>(prepare: Prepare<Schema>) {
      const handler: Handler<Schema> = async (request, reply) => {
        const print = fingerprint(request)
        if (print !== undefined) return runOnce(print, prepare, request, reply)
        const commit = await prepare(request, reply, null)
        return db.transaction(async (tx) => {
          const response = await commit(tx)
          await request.recordAudit(tx, { result: response })
          return response
        })
      }
      wrapped.add(handler)
      return handler
    },
    isWriting: (handler) => typeof handler === 'function' && wrapped.has(handler),
  }
}
