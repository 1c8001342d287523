import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
} from 'fastify'
import type { ResolveFastifyReplyType } from 'fastify/types/type-provider.js'
import type { Tx } from '../../db/index.ts'

/** The second half of a POST: runs inside the transaction that also keeps the answer for repeats. Store work only. */
export type Commit<T> = (tx: Tx) => Promise<T>

/** The first half: checks and remote work, outside any transaction. */
export type Prepare<Schema extends FastifySchema> = (
  request: TypedRequest<Schema>,
  reply: TypedReply<Schema>,
) => Promise<Commit<Answer<Schema>>>

/** A handler as fastify takes it. */
export type Handler<Schema extends FastifySchema> = (
  request: TypedRequest<Schema>,
  reply: TypedReply<Schema>,
) => Promise<Answer<Schema>>

/** The request, the reply and what is answered, as the route's schema says. */
export type TypedRequest<Schema extends FastifySchema> = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  RawRequestDefaultExpression,
  Schema,
  TypeBoxTypeProvider
>
export type TypedReply<Schema extends FastifySchema> = FastifyReply<
  RouteGenericInterface,
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  unknown,
  Schema,
  TypeBoxTypeProvider
>
export type Answer<Schema extends FastifySchema> = ResolveFastifyReplyType<
  TypeBoxTypeProvider,
  Schema,
  RouteGenericInterface
>

/**
 * Wraps the handler of every keyed POST (one that is not wrapped stops the server). With an Idempotency-Key: a repeat gets
 * the first answer with `Idempotent-Replayed: true`, the same key with another body 422, one that still runs 409.
 * Without: just the transaction.
 */
export interface Idempotency {
  writing<Schema extends FastifySchema>(prepare: Prepare<Schema>): Handler<Schema>
  /** True for a handler made by `writing`. */
  isWriting(handler: unknown): boolean
}
