import { deduplicationRoutes, duplicateFinder, sharedClaims } from '../../events/deduplication/index.ts'
import { EventStreams, feedRoutes } from '../../events/feed/index.ts'
import {
  endpoints as createEndpoints,
  testDeliveries as createTestDeliveries,
  deliveryRoutes,
  endpointRoutes,
  isSubscription,
  subscribes,
  testRoutes,
  WebhookEngine,
} from '../../events/webhooks/index.ts'
import type { App as HttpServer } from '../../platform/http/index.ts'
import type { Features } from '../features.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Part } from '../start-stop.ts'
import type { Messages } from './mail.ts'
import type { Operations } from './operations.ts'
import type { FeatureOptions } from './options.ts'
import type { Shared } from './shared.ts'

/** How recorded events reach the application: webhooks and streams. */
export function openEvents(
  { privateTargets, redis }: Infrastructure,
  shared: Shared,
  { activity, metrics, reader }: Operations & Messages,
  options: FeatureOptions,
) {
  const { config, clock, db, events, log } = shared
  const endpoints = createEndpoints(shared)
  const claims = options.claims ?? (redis && sharedClaims({ redis, clock, log }))
  const duplicates = options.duplicates ?? duplicateFinder({ db, claims })
  const webhooks = new WebhookEngine({
    ...shared,
    ...metrics,
    onEvents: activity.onEvents,
    onResults: activity.onResults,
    recorder: events,
    duplicates,
    ...(privateTargets !== undefined && { sendingThread: { privateTargets } }),
    ...options.webhooks,
  })
  const readMessage = options.readMessage ?? reader.asReceived
  const testDeliveries = createTestDeliveries({ ...shared, recorder: events, readMessage })
  const streams = new EventStreams({
    ...shared,
    maxStreams: config.maxStreams,
    maxPerOwner: config.maxStreamsPerKey,
  })

  const eventParts: readonly Part[] = [
    { start: () => webhooks.start(), stop: (drainMs) => webhooks.stop(drainMs), stopsWith: 'work' },
    { stop: (drainMs) => testDeliveries.stop(drainMs), stopsWith: 'work' },
  ]
  return { endpoints, claims, webhooks, testDeliveries, streams, eventParts }
}

export function eventRoutes(server: HttpServer, shared: Shared, features: Features): void {
  const { catalogue, db } = shared
  const { claims, endpoints, idempotency, streams, testDeliveries } = features
  endpointRoutes(server, { endpoints, idempotency })
  deliveryRoutes(server, { ...shared, testDeliveries, idempotency })
  testRoutes(server, { catalogue, testDeliveries, idempotency })
  feedRoutes(server, { db, streams, catalogue, isSubscription, subscribes })
  deduplicationRoutes(server, { ...shared, idempotency, claims })
}
