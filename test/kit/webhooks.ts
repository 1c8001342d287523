import { randomUUID } from 'node:crypto'
import { catalogue } from '../../src/app/event-catalogue.ts'
import { type EventCatalogue, type Recorder, recorder } from '../../src/events/index.ts'
import { duplicateFinder, type SharedClaims } from '../../src/features/deduplication/index.ts'
import {
  type CreateBody,
  type DeliveryQuery,
  type DeliveryView,
  type DuplicateFinder,
  deliveryStore,
  type Endpoints,
  type EndpointView,
  endpoints,
  type ReadMessage,
  type TestDeliveries,
  testDeliveries,
  WebhookEngine,
} from '../../src/features/webhooks/index.ts'
import { type Bus, memoryBus } from '../../src/infra/bus/index.ts'
import type { Db } from '../../src/infra/db/index.ts'
import { type Outbound, outbound } from '../../src/infra/http/index.ts'
import { silentLog } from '../../src/infra/log/index.ts'
import { addressGuard, type Resolved } from '../../src/infra/net/index.ts'
import { databaseQueue, type Queue } from '../../src/infra/queue/index.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { notFound } from '../../src/lib/errors.ts'
import { type Ids, idGenerator } from '../../src/lib/ids.ts'
import { generateKeyRing, parseKeyRing, type Sealer, sealer } from '../../src/lib/seal.ts'
import { type EventSketch, eventOf } from './events.ts'

export interface WebhookFixtureOptions {
  clock?: Clock
  /** Two fixtures on one database share a key ring. */
  ring?: string
  readMessage?: ReadMessage
  leaseMs?: number
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
  /** Identifies the process in the queue, so that another process can release its leases. */
  instanceId?: string
}

/** The webhook feature on one database, composed as in `src/app`. */
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
  create(body: CreateBody): Promise<EndpointView>
  /** Records events in one transaction and returns their ids. */
  record(...events: EventSketch[]): Promise<string[]>
  /** Deliveries, oldest first. */
  deliveries(query?: DeliveryQuery): Promise<DeliveryView[]>
  close(): Promise<void>
}

export const TEST_RING = generateKeyRing()

/** Not started: call `fixture.engine.start()`. */
export function webhookFixture(db: Db, options: WebhookFixtureOptions = {}): WebhookFixture {
  const clock = options.clock ?? systemClock
  const ids = idGenerator(clock)
  const log = silentLog
  const bus = options.bus ?? memoryBus({ log })
  const instanceId = options.instanceId ?? randomUUID()
  const queue = options.queue ?? databaseQueue({ db, bus, clock, ids, log, instanceId, pollMs: 500 })
  const seal = sealer(parseKeyRing(options.ring ?? TEST_RING))
  const guard = addressGuard({
    privateTargets: options.privateTargets ?? 'loopback',
    resolve: resolveToLoopback,
    clock: systemClock,
  })
  const client = outbound({ guard, ...(options.ca !== undefined && { ca: options.ca }) })
  const events = recorder({ catalogue, clock, ids, bus })
  const {
    readMessage = noMessage,
    leaseMs = 30_000,
    duplicates = duplicateFinder({ db, claims: options.claims }),
  } = options
  const deps = {
    db,
    bus,
    queue,
    clock,
    ids,
    log,
    sealer: seal,
    recorder: events,
    outbound: client,
    guard,
    duplicates,
    catalogue,
    leaseMs,
    sweepMs: 1000,
  }
  const store = endpoints(deps)
  const attempts = testDeliveries({ ...deps, readMessage })
  const engine = new WebhookEngine(deps)
  // Each event is a separate change unless the test sets a version.
  let version = 0
  const nextVersion = () => {
    version += 1
    return version
  }
  let closing: Promise<void> | undefined
  const fixture: WebhookFixture = {
    catalogue,
    db,
    bus,
    queue,
    clock,
    ids,
    recorder: events,
    outbound: client,
    sealer: seal,
    endpoints: store,
    testDeliveries: attempts,
    engine,
    async create(body) {
      const commit = await store.create(body)
      return db.transaction(commit)
    },
    record: (...given) =>
      db.transaction((tx) =>
        events.record(
          tx,
          given.map((sketch) =>
            eventOf({ ...(sketch.type === undefined ? MESSAGE : OF_MESSAGE), version: nextVersion(), ...sketch }),
          ),
        ),
      ),
    async deliveries(query = {}) {
      const { items } = await deliveryStore(db.read).list({ limit: 200, ...query })
      return items.reverse()
    },
    close() {
      closing ??= (async () => {
        await engine.stop(0)
        await attempts.stop(0)
        await queue.close()
        await bus.close()
        await client.close()
      })()
      return closing
    },
  }
  return fixture
}

/** Resolves without DNS; `.invalid` never resolves. */
async function resolveToLoopback(host: string): Promise<Resolved> {
  if (host.endsWith('.invalid')) throw new Error('NXDOMAIN')
  return { addresses: ['127.0.0.1'], ttlMs: 60_000 }
}

const noMessage: ReadMessage = async (_accountId, messageId) => Promise.reject(notFound('message', messageId))

/** Defaults for the fields of an event that a test leaves out. */
const OF_MESSAGE: EventSketch = { accountId: 'acc_test', provider: 'imap', objectId: 'msg_test', version: 1 }
const MESSAGE: EventSketch = { ...OF_MESSAGE, data: { id: 'msg_test', subject: 'Grüße, 東京 & “quotes”' } }
