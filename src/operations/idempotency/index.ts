/**
 * Idempotency keys. The first response to a POST with an Idempotency-Key is stored sealed for
 * `IDEMPOTENCY_KEY_HOURS`, in the transaction of the POST's effects. Every feature wraps its keyed POSTs with `writing`.
 */
import type {} from './tables.ts'

export { idempotencyFeature } from './feature.ts'
export { type IdempotencyDeps, idempotency } from './service.ts'
