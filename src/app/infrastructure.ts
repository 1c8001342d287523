import { type Bus, memoryBus, openPostgresBus, openRedisBus } from '../platform/bus/index.ts'
import { type Cache, memoryCache, redisCache } from '../platform/cache/index.ts'
import type { Db } from '../platform/db/index.ts'
import { type AddressGuard, type DnsRecords, dnsRecords, serviceGuard } from '../platform/net/index.ts'
import { type Outbound, outbound } from '../platform/outbound/index.ts'
import { openPresence, type Presence } from '../platform/presence/index.ts'
import { databaseQueue, openRedisQueue, type Queue } from '../platform/queue/index.ts'
import { openRedis, type RedisLink } from '../platform/redis/index.ts'
import { openSecrets, type Secrets } from '../platform/secrets/index.ts'
import type { RuntimeContext } from './runtime-context.ts'
import { migrateAtStart, openStore, startError } from './store.ts'

/** The foundation of all features. The settings choose the kind of each part. */
export interface Infrastructure {
  db: Db
  secrets: Secrets
  /** With REDIS_URL; cache, bus and queue are on it then. */
  redis: RedisLink | undefined
  bus: Bus
  /** On PostgreSQL, which other instances can use too. */
  presence: Presence | undefined
  cache: Cache
  queue: Queue
  guard: AddressGuard
  /** The guard's exceptions, for threads with a guard of their own. Without it, only the main thread sends to outside addresses. */
  privateTargets: string | undefined
  outbound: Outbound
  records: DnsRecords
  /** Closes everything in reverse order of opening. Twice safely. */
  close(): Promise<void>
}

/** Opens the store (migrated), the secrets, and the kinds of bus, cache and queue that the settings ask for. */
export async function openInfrastructure(
  context: RuntimeContext,
  aborted: AbortSignal,
  onMigrate: () => void,
): Promise<Infrastructure> {
  const { config, clock, log, redactor } = context
  const closers: (() => Promise<void>)[] = []
  const opened = <T>(part: T, close: (part: T) => Promise<void>): T => {
    closers.push(() => close(part))
    return part
  }
  const close = async () => {
    for (let step = closers.pop(); step !== undefined; step = closers.pop()) await step()
  }
  try {
    const { db } = opened(await openStore(config, log, aborted), (store) => store.close())
    // Early, because it proves the death of other instances only after some seconds.
    const presence = await openPresenceIfShared(context)
    if (presence !== undefined) opened(presence, (part) => part.close())
    onMigrate()
    await migrateAtStart(db, config, log)
    const secrets = await openSecrets({ configured: config, db, dataDir: config.dataDir, log, redactor })
    const redis = await openRedisIfConfigured(context, aborted)
    if (redis !== undefined) opened(redis, (part) => part.close())
    const cache = opened(redis === undefined ? memoryCache({ clock }) : redisCache(redis), (part) => part.close())
    const bus = opened(await openBus(context, db, redis), (part) => part.close())
    const queue = opened(await openQueue(context, db, bus, redis), (part) => part.close())
    const guard = serviceGuard({
      privateTargets: config.privateTargets,
      clock,
      onRefused: (host, reason) =>
        log.warn(`Refused to connect: ${reason}`, { operation: 'net.refuse', metadata: { host } }),
    })
    return {
      db,
      secrets,
      redis,
      presence,
      bus,
      cache,
      queue,
      guard,
      privateTargets: config.privateTargets,
      records: dnsRecords({ timeoutMs: 2000 }),
      outbound: opened(outbound({ guard }), (part) => part.close()),
      close,
    }
  } catch (error) {
    await close()
    throw startError(config, error)
  }
}

async function openPresenceIfShared(context: RuntimeContext): Promise<Presence | undefined> {
  const { config, clock, instanceId, log } = context
  if (config.databaseUrl === undefined) return undefined
  return openPresence({ url: config.databaseUrl, instanceId, monotonic: () => clock.monotonic(), log })
}

async function openRedisIfConfigured(
  { config, log }: RuntimeContext,
  aborted: AbortSignal,
): Promise<RedisLink | undefined> {
  if (config.redisUrl === undefined) return undefined
  return openRedis({ url: config.redisUrl, log }, aborted)
}

async function openBus({ config, log }: RuntimeContext, db: Db, redis: RedisLink | undefined): Promise<Bus> {
  if (redis !== undefined) return openRedisBus({ redis, log })
  return config.databaseUrl === undefined ? memoryBus({ log }) : openPostgresBus({ url: config.databaseUrl, db, log })
}

async function openQueue(context: RuntimeContext, db: Db, bus: Bus, redis: RedisLink | undefined): Promise<Queue> {
  const { clock, ids, log, instanceId } = context
  const shared = { clock, ids, log }
  return redis === undefined ? databaseQueue({ ...shared, db, bus, instanceId }) : openRedisQueue({ ...shared, redis })
}
