import type { SharedClaims } from '../../../src/events/deduplication/index.ts'
import type { EventCatalogue, Recorder } from '../../../src/events/index.ts'
import {
  type CreateBody,
  type DeliveryQuery,
  type DeliveryView,
  type DuplicateFinder,
  deliveryStore,
  type Endpoints,
  type EndpointView,
  type ReadMessage,
  type TestDeliveries,
  type WebhookDeps,
  type WebhookEngine,
} from '../../../src/events/webhooks/index.ts'
import type { ActivityCounter } from '../../../src/operations/portal-api/index.ts'
import type { Bus } from '../../../src/platform/bus/index.ts'
import type { Sealer } from '../../../src/platform/crypto/seal.ts'
import type { Db } from '../../../src/platform/db/index.ts'
import { notFound } from '../../../src/platform/errors/app-error.ts'
import type { Ids } from '../../../src/platform/ids.ts'
import { addressGuard } from '../../../src/platform/net/index.ts'
import type { Outbound } from '../../../src/platform/outbound/index.ts'
import type { Queue } from '../../../src/platform/queue/index.ts'
import { type Clock, systemClock } from '../../../src/platform/time/clock.ts'
import { compose, resolveToLoopback } from '../service/composition.ts'
import { buildEvent, type EventSketch } from './events.ts'

export interface WebhookFixtureOptions {
  clock?: Clock
  readMessage?: ReadMessage
  leaseMs?: number
  maxRunMs?: number
  /** Replaces the in-memory bus; closed with the fixture. */
  bus?: Bus
  /** Replaces the database queue; closed with the fixture. */
  queue?: Queue
  /** Keeps deduplication keys outside the database. */
  claims?: SharedClaims
  /** Replaces deduplication. */
  duplicates?: DuplicateFinder
  /** A certificate to trust. */
  ca?: string
  /** The setting `security.privateTargets`; default `loopback`. */
  privateTargets?: string
  /** The thread that sends while much is sent; none by default. */
  sendingThread?: WebhookDeps['sendingThread']
  /** Identifies the process in the queue, so that another process can release its leases. */
  instanceId?: string
}

/** The webhook feature of the app on one database. */
export interface WebhookFixture {
  catalogue: EventCatalogue
  db: Db
  bus: Bus
  queue: Queue
  clock: Clock
  ids: Ids
  recorder: Recorder
  outbound: Outbound
  sealer: Sealer
  endpoints: Endpoints
  testDeliveries: TestDeliveries
  engine: WebhookEngine
  /** Counts for the overview of the portal. */
  activity: ActivityCounter
  create(body: CreateBody): Promise<EndpointView>
  /** Records events in one transaction and returns their ids. */
  record(...events: EventSketch[]): Promise<string[]>
  /** Deliveries, oldest first. */
  deliveries(query?: DeliveryQuery): Promise<DeliveryView[]>
  close(): Promise<void>
}

/** Not started: call `fixture.engine.start()`. */
export function webhookFixture(db: Db, options: WebhookFixtureOptions = {}): WebhookFixture {
  const {
    privateTargets,
    readMessage = noMessage,
    leaseMs = 30_000,
    maxRunMs = 30_000,
    claims,
    duplicates,
    sendingThread,
    ...rest
  } = options
  const { catalogue, context, infrastructure, features, close } = compose(db, {
    ...rest,
    queueTiming: { pollMs: 500 },
    ...(privateTargets !== undefined && {
      guard: addressGuard({ privateTargets, resolve: resolveToLoopback, clock: systemClock }),
    }),
    features: {
      readMessage,
      webhooks: { leaseMs, maxRunMs, sweepMs: 1000, ...(sendingThread && { sendingThread }) },
      ...(claims && { claims }),
      ...(duplicates && { duplicates }),
    },
  })
  const { endpoints, testDeliveries, webhooks: engine, events: recorder } = features
  // Each event is a separate change unless the test sets a version.
  let version = 0
  const nextVersion = () => {
    version += 1
    return version
  }
  return {
    catalogue,
    db,
    recorder,
    endpoints,
    testDeliveries,
    engine,
    activity: features.activity,
    close,
    clock: context.clock,
    ids: context.ids,
    sealer: infrastructure.secrets.sealer,
    bus: infrastructure.bus,
    queue: infrastructure.queue,
    outbound: infrastructure.outbound,
    async create(body) {
      const commit = await endpoints.create(body)
      return db.transaction(commit)
    },
    record: (...results) =>
      db.transaction((tx) =>
        recorder.record(
          tx,
          results.map((sketch) =>
            buildEvent({ ...(sketch.type === undefined ? MESSAGE : OF_MESSAGE), version: nextVersion(), ...sketch }),
          ),
        ),
      ),
    async deliveries(query = {}) {
      const { items } = await deliveryStore(db.read).list({ limit: 200, ...query })
      return items.reverse()
    },
  }
}

const noMessage: ReadMessage = async (_accountId, messageId) => Promise.reject(notFound('message', messageId))

/** Defaults for the fields of an event that a test leaves out. */
const OF_MESSAGE: EventSketch = { accountId: 'acc_test', provider: 'imap', objectId: 'msg_test', version: 1 }
const MESSAGE: EventSketch = { ...OF_MESSAGE, data: { id: 'msg_test', subject: 'Grüße, 東京 & “quotes”' } }
