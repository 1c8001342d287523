/**
 * First answers to POSTs that carried an Idempotency-Key, kept sealed for 24 hours in the transaction of their effects.
 * Every keyed POST of every room passes through `writing`.
 */
import './tables.ts'

export { purgeIdempotencyKeys } from './purge.ts'
export { type IdempotencyDeps, idempotency } from './service.ts'
