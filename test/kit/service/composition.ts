import { catalogue } from '../../../src/app/feature-list.ts'
import { openFeatures } from '../../../src/app/features.ts'
import type { Infrastructure } from '../../../src/app/infrastructure.ts'
import type { RuntimeContext } from '../../../src/app/runtime-context.ts'
import { stopParts } from '../../../src/app/start-stop.ts'
import type { FeatureOptions } from '../../../src/app/wiring/options.ts'
import { type Config, loadConfig } from '../../../src/config/index.ts'
import { type Bus, memoryBus } from '../../../src/platform/bus/index.ts'
import { memoryCache } from '../../../src/platform/cache/index.ts'
import { type RingKey, sealer } from '../../../src/platform/crypto/seal.ts'
import type { Db } from '../../../src/platform/db/index.ts'
import { idGenerator } from '../../../src/platform/ids.ts'
import { type Log, logRing, redactor, silentLog } from '../../../src/platform/log/index.ts'
import { type AddressGuard, addressGuard, type Resolved } from '../../../src/platform/net/index.ts'
import { outbound } from '../../../src/platform/outbound/index.ts'
import { type DatabaseQueueDeps, databaseQueue, type Queue } from '../../../src/platform/queue/index.ts'
import { fixedRing } from '../../../src/platform/secrets/index.ts'
import { type Clock, systemClock } from '../../../src/platform/time/clock.ts'

export interface CompositionOptions {
  clock?: Clock
  log?: Log
  /** Identifies the process in the queue, so that another process can release its leases. */
  instanceId?: string
  settings?: Partial<Config>
  ring?: RingKey[]
  /** Replaces the in-memory bus; closed with the composition. */
  bus?: Bus
  /** Replaces the database queue; closed with the composition. */
  queue?: Queue
  queueTiming?: Pick<DatabaseQueueDeps, 'pollMs' | 'backoff'>
  guard?: AddressGuard
  /** A certificate that webhooks trust. */
  ca?: string
  features?: FeatureOptions
}

/** Fixed, so that another process on the same database can open what the first one sealed. */
export const TEST_KEYS: RingKey[] = [{ id: 'k1', key: Buffer.alloc(32, 7) }]

export type Composition = ReturnType<typeof compose>

/** The features of the app on a database, without an HTTP server. Nothing is started. */
export function compose(db: Db, options: CompositionOptions = {}) {
  const clock = options.clock ?? systemClock
  const ids = idGenerator(clock)
  const log = options.log ?? silentLog
  const { config, settings } = loadConfig({ environment: {}, folder: '/nowhere' })
  const context: RuntimeContext = {
    // Mail servers of tests save no copies by themselves.
    config: { ...config, outboxCopyWaitSeconds: 0, ...options.settings },
    settings,
    clock,
    ids,
    log,
    logs: logRing(),
    redactor: redactor(),
    instanceId: options.instanceId ?? ids('ins'),
    droppedLogRecords: () => 0,
    close: async () => {},
  }
  const bus = options.bus ?? memoryBus({ log })
  const queue = options.queue ?? databaseQueue({ ...context, db, bus, ...options.queueTiming })
  const guard =
    options.guard ?? addressGuard({ privateTargets: 'loopback', resolve: resolveToLoopback, clock: systemClock })
  const client = outbound({ guard, ...(options.ca !== undefined && { ca: options.ca }) })
  const infrastructure: Infrastructure = {
    db,
    redis: undefined,
    presence: undefined,
    bus,
    queue,
    guard,
    outbound: client,
    // Its guard would not resolve as this one does.
    privateTargets: undefined,
    cache: memoryCache({ clock }),
    secrets: {
      serviceApiKey: 'test-key',
      adminPassword: undefined,
      keysBesideData: false,
      keyRing: fixedRing,
      sealer: sealer(options.ring ?? TEST_KEYS),
    },
    records: { mx: async () => [], srv: async () => [], txt: async () => [] },
    async close() {
      await queue.close()
      await bus.close()
      await client.close()
    },
  }
  const features = openFeatures(context, infrastructure, options.features)
  let closing: Promise<void> | undefined
  return {
    catalogue,
    context,
    infrastructure,
    features,
    /** Stops what was started and closes everything but the database. */
    close(drainMs = 0): Promise<void> {
      closing ??= stopParts(features.parts, drainMs).then(infrastructure.close)
      return closing
    },
  }
}

/** Resolves without DNS; `.invalid` never resolves. */
export async function resolveToLoopback(host: string): Promise<Resolved> {
  if (host.endsWith('.invalid')) throw new Error('NXDOMAIN')
  return { addresses: ['127.0.0.1'], ttlMs: 60_000 }
}
