/**
 * Messages to send: requests are accepted into durable rows, and runs per account send them through the provider, never twice.
 * `sending/send-run.ts` has the states; `service.ts` is what the routes, and other features that send, use.
 */
import type {} from './tables.ts'

export { outboxFeature } from './feature.ts'
export type { Composition } from './prepare.ts'
export { outboxRoutes } from './routes.ts'
export type { OutboxTiming } from './sending/account-run.ts'
export { outboxEngine } from './sending/engine.ts'
export { type Outbox, outbox } from './service.ts'
