/**
 * Sends events to the application: endpoints, the fan-out of events into deliveries, and the signed requests.
 * A delivery is a row with a state; the queue only carries the ids of endpoints with due deliveries.
 */
import type {} from './tables.ts'

export type { DeliveryQuery, DeliveryView } from './deliveries/api.ts'
export type { DuplicateFinder, FindDuplicates } from './deliveries/mark-duplicates.ts'
export { deliveryRoutes } from './deliveries/routes.ts'
export { deliveryStore } from './deliveries/store.ts'
export type { CreateBody, EndpointView } from './endpoints/api.ts'
export { activeEndpoints } from './endpoints/read.ts'
export { endpointRoutes } from './endpoints/routes.ts'
export { type Endpoints, endpoints } from './endpoints/service.ts'
export { isSubscription, subscribes } from './endpoints/subscriptions.ts'
export { type WebhookDeps, WebhookEngine } from './engine.ts'
export { webhooksFeature } from './feature.ts'
export { openApiWebhooks } from './openapi-webhooks.ts'
export type { AttemptResult } from './sending/results.ts'
export { testRoutes } from './testing/routes.ts'
export { type MessageEvent, type ReadMessage, type TestDeliveries, testDeliveries } from './testing/service.ts'
