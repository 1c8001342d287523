/**
 * Idempotency keys. The first response to a POST with an Idempotency-Key is stored sealed for 24 hours, in the
 * transaction of the POST's effects. Every feature wraps its keyed POSTs with `writing`.
 */
import './tables.ts'

export { forgetRunning } from './after-restore.ts'
export { SEALED_RESPONSES } from './keys.ts'
export { type IdempotencyDeps, idempotency } from './service.ts'
export { purgeIdempotencyKeys } from './store.ts'
