/**
 * Events leave the house here: endpoints, the fan-out of events into deliveries, and the signed requests that carry them.
 * A delivery is a row with a state; the queue only says which endpoint to look at.
 */
import './schema.ts'

export { deliveryRoutes } from './delivery-routes.ts'
export type { DeliveryQuery, DeliveryView } from './delivery-schema.ts'
export { deliveryStore } from './delivery-store.ts'
export { endpointRoutes } from './endpoint-routes.ts'
export type { CreateBody, EndpointView } from './endpoint-schema.ts'
export { type Endpoints, endpoints } from './endpoints.ts'
export { cancelForAccount, eraseDeliveries, purgeDeliveries } from './erase.ts'
export { isSubscription, subscribes } from './event-types.ts'
export { notices } from './notices.ts'
export type { FindRepeats, Repeats } from './repeats.ts'
export { type WebhookDeps, WebhookEngine } from './service.ts'
export { type MessageEvent, type ReadMessage, type Trials, trials } from './trials.ts'
