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
import type { Tx } from '../../../db/index.ts'

/** The second half of a POST, inside the transaction that also stores the response for retries. Awaits only the store. */
export type Commit<T> = (tx: Tx) => Promise<T>

/**
 * The first half: checks and remote calls, outside any transaction. `requestKey` is the same for every repetition of the request, and
 * for no other one; null without an Idempotency-Key.
 */
export type Prepare<Schema extends FastifySchema> = (
  request: TypedRequest<Schema>,
  reply: TypedReply<Schema>,
  requestKey: string | null,
) => Promise<Commit<ResponseBody<Schema>>>

/** A Fastify handler. */
export type Handler<Schema extends FastifySchema> = (
  request: TypedRequest<Schema>,
  reply: TypedReply<Schema>,
) => Promise<ResponseBody<Schema>>

/** Request, reply and response body with the types of the route's schema. */
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
export type ResponseBody<Schema extends FastifySchema> = ResolveFastifyReplyType<
  TypeBoxTypeProvider,
  Schema,
  RouteGenericInterface
>

/**
 * Wraps the handler of every keyed POST; the server does not start with one that is not wrapped. With an Idempotency-Key, a
 * retry gets the first response with `Idempotent-Replayed: true`. It gets 422 with a different body, and 409 while the first
 * request runs. Without a key, the handler just runs in its transaction.
 */
export interface Idempotency {
  writing<Schema extends FastifySchema>(prepare: Prepare<Schema>): Handler<Schema>
  /** True for a handler made by `writing`. */
  isWriting(handler: unknown): boolean
}
