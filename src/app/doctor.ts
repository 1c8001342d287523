import { existsSync } from 'node:fs'
import { sql } from 'kysely'
import { runningInstances } from '../accounts/cluster/index.ts'
import type { Config } from '../config/index.ts'
import { activeEndpoints } from '../events/webhooks/index.ts'
import { migrations } from '../migrations/index.ts'
import {
  type Check,
  clockCheck,
  databaseChecks,
  dataFolderCheck,
  failed,
  ok,
  openedBy,
  publicUrlChecks,
  redisChecks,
  Skip,
  skipped,
  type TimeSource,
  timeZonesCheck,
  webhooksCheck,
} from '../operations/doctor/index.ts'
import { zoneDatabase } from '../platform/calendar/zone-data/database.ts'
import { sleep } from '../platform/concurrency/abort.ts'
import { lazy } from '../platform/concurrency/lazy.ts'
import { type Db, migrationStatus, openPostgres } from '../platform/db/index.ts'
import { rethrowProgrammingError } from '../platform/errors/programming-errors.ts'
import { silentLog } from '../platform/log/index.ts'
import { addressGuard, resolver } from '../platform/net/index.ts'
import { inspectRedis } from '../platform/redis/index.ts'
import { checkKeys } from '../platform/secrets/index.ts'
import { type Clock, clockAhead, systemClock } from '../platform/time/clock.ts'
import { pubsub } from '../providers/shared/pubsub/index.ts'
import { mailSignInChecks, signInChecks } from './provider-checks.ts'
import { pubsubSettings } from './settings.ts'
import { signIn } from './sign-in.ts'
import { fileStorePath, openFileStore } from './store.ts'

export interface DoctorOptions {
  clock?: Clock
  /** Certificates to trust instead of the system's. For tests. */
  ca?: string
}

interface Doctor {
  checks: Check[]
  /** Closes what the checks opened. Returns after a second, also when the other side does not respond. */
  close(): Promise<void>
}

/** Every request of a check ends before the check itself would time out. */
const REQUEST_MS = 5000
const CLOSE_MS = 1000

/** All checks of an installation with valid settings. They read beside a running service and change nothing. */
export function doctor(config: Config, { clock = systemClock, ca }: DoctorOptions = {}): Doctor {
  const { databaseUrl, redisUrl } = config
  const open = lazy(() => openForReading(config))
  const readable = async () => migratedOnly(await openedBy({ open }))
  const logins = signIn(config, clock)
  const signIns = (['gmail', 'microsoft'] as const).map((provider) => signInChecks(provider, config, logins))
  const resolve = resolver({ timeoutMs: REQUEST_MS })
  const guard = addressGuard({ privateTargets: config.privateTargets, resolve, clock })
  const inspect = redisUrl === undefined ? undefined : lazy(() => inspectRedis(redisUrl, clock, REQUEST_MS))
  const running = async () => {
    if (databaseUrl === undefined && !existsSync(fileStorePath(config))) return []
    const db = await readable()
    return runningInstances(db.read, db.dialect)
  }
  const times: TimeSource[] = [
    ...(databaseUrl === undefined
      ? []
      : [{ name: 'PostgreSQL', aheadMs: async () => databaseAhead(await openedBy({ open }), clock) }]),
    ...(inspect === undefined ? [] : [{ name: 'Redis', aheadMs: async () => (await inspect()).clockAheadMs }]),
    ...signIns.map(({ clockAheadMs }, index) => ({
      name: ['Google', 'Microsoft'][index] ?? '',
      aheadMs: clockAheadMs,
    })),
  ]
  return {
    checks: [
      ...databaseChecks({
        open,
        migrations,
        isPostgres: databaseUrl !== undefined,
        appliesMigrations: config.autoApplyMigrations,
        maxConnections: config.databaseMaxConnections,
      }),
      { name: 'encryption keys', run: async () => encryptionKeys(config, await readable()) },
      databaseUrl === undefined
        ? dataFolderCheck(config.dataDir)
        : { name: 'data folder', run: async () => skipped('PostgreSQL stores the data.') },
      ...redisChecks({ inspect }),
      { name: 'service', run: async () => service(await running()) },
      ...publicUrlChecks({ publicUrl: config.publicUrl, resolve, clock, runningInstances: running, ca }),
      ...signIns.flatMap(({ checks }) => checks),
      ...[...mailSignInChecks(config, logins, guard).values()].flat(),
      { name: 'gmail push', run: () => pubsubWorks(config, clock) },
      webhooksCheck({ targets: async () => activeEndpoints((await readable()).read), guard, clock, ca }),
      clockCheck(times),
      timeZonesCheck(zoneDatabase, clock),
    ],
    async close() {
      const closing = open()
        .then((db) => db?.close())
        .catch(() => {})
      await Promise.race([closing, sleep(CLOSE_MS)])
    },
  }
}

async function openForReading(config: Config): Promise<Db | undefined> {
  const { databaseUrl: url } = config
  if (url === undefined) return existsSync(fileStorePath(config)) ? openFileStore(config, silentLog) : undefined
  const db = await openPostgres({
    url,
    maxConnections: 2,
    onError: () => {},
    connectTimeoutMs: REQUEST_MS,
    queryTimeoutMs: REQUEST_MS,
  })
  try {
    await databaseNow(db)
    return db
  } catch (error) {
    void db.close().catch(() => {})
    throw error
  }
}

/** For checks that read tables: their columns may not exist yet. */
async function migratedOnly(db: Db): Promise<Db> {
  const { pending } = await migrationStatus(db, migrations)
  if (pending.length > 0) throw new Skip('The database has pending migrations.')
  return db
}

async function databaseNow(db: Db): Promise<number> {
  const { rows } = await sql<{ nowMs: number }>`select ${db.dialect.nowMs} as "nowMs"`.execute(db.read)
  return rows[0]?.nowMs ?? Number.NaN
}

async function databaseAhead(db: Db, clock: Clock): Promise<number> {
  const startedMs = clock.now()
  const databaseMs = await databaseNow(db)
  return clockAhead(databaseMs, startedMs, clock.now())
}

async function encryptionKeys(config: Config, db: Db) {
  const found = await checkKeys({ configured: config, db, dataDir: config.dataDir })
  if (found.state === 'unused') return ok('Nothing is encrypted yet.')
  if (found.state === 'opens') return ok('The encryption keys open the stored data.')
  return failed(found.message, 'Without the key the stored credentials are lost: restore it from your copy.')
}

async function service(running: readonly string[]) {
  if (running.length === 0) return skipped('No instance runs.', 'Start one: posthorn start')
  return ok(running.length === 1 ? 'One instance runs.' : `${running.length} instances run.`)
}

async function pubsubWorks(config: Config, clock: Clock) {
  const { url, topicName, subscriptionName, credentials } = pubsubSettings(config)
  if (topicName === undefined && subscriptionName === undefined && credentials === undefined) {
    throw new Skip('Cloud Pub/Sub is not configured; gmail accounts are polled.')
  }
  const remedy =
    'Check PUBSUB_TOPIC_NAME, PUBSUB_SUBSCRIPTION_NAME and APPLICATION_CREDENTIALS, and that the service account may read both.'
  if (topicName === undefined || subscriptionName === undefined || credentials === undefined) {
    return failed('The settings of Cloud Pub/Sub are incomplete.', remedy)
  }
  try {
    const client = await pubsub({ url, topicName, subscriptionName, credentials }, clock)
    try {
      await client.check(AbortSignal.timeout(REQUEST_MS))
      return ok(`${client.topicName} can be read.`)
    } finally {
      await client.close()
    }
  } catch (error) {
    rethrowProgrammingError(error)
    return failed(`Cloud Pub/Sub does not work: ${error instanceof Error ? error.message : String(error)}.`, remedy)
  }
}
