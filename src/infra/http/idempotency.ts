import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Tx } from '../db/index.ts'

/** The second half of a POST: runs inside the transaction that also keeps the answer for repeats. Store work only. */
export type Commit<T> = (tx: Tx) => Promise<T>

/** The first half: checks and remote work, outside any transaction. */
export type Prepare<Req, T> = (request: Req, reply: FastifyReply) => Promise<Commit<T>>

/**
 * Wraps the handler of every keyed POST (one that is not wrapped stops the server). With an Idempotency-Key: a repeat
 * gets the first answer with `Idempotent-Replayed: true`, the same key with another body 422, one that still runs 409. Without: just the transaction.
 */
export interface Idempotency {
  writing<Req extends FastifyRequest, T>(prepare: Prepare<Req, T>): (request: Req, reply: FastifyReply) => Promise<T>
  /** True for a handler made by `writing`. */
  isWriting(handler: unknown): boolean
}
