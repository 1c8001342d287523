import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sharedClaims } from '../src/events/deduplication/index.ts'
import { migrations } from '../src/migrations/index.ts'
import { openRedisBus } from '../src/platform/bus/index.ts'
import { type Db, migrateUp, openSqlite } from '../src/platform/db/index.ts'
import { openPostgres } from '../src/platform/db/postgres/postgres.ts'
import { idGenerator } from '../src/platform/ids.ts'
import { silentLog } from '../src/platform/log/index.ts'
import { redisQueue } from '../src/platform/queue/redis.ts'
import { openRedis } from '../src/platform/redis/index.ts'
import { systemClock } from '../src/platform/time/clock.ts'
import { administer, databaseUrl, findServer } from '../test/kit/database/postgres-server.ts'
import { type WebhookFixture, webhookFixture } from '../test/kit/events/webhooks.ts'
import { eventually } from '../test/kit/eventually.ts'
import { startRedis } from '../test/servers/redis.ts'
import { median, spread } from './figures.ts'
import { inTurns } from './rounds.ts'
import { bareUndici, DATA, type Sink, startSink } from './sink.ts'
import { judge, type Limit, sayVerdict } from './verdict.ts'

/** Deliveries of one round. */
const DELIVERIES = Number(process.env.BENCH_ROWS ?? 50_000)
/** Each event goes to every endpoint. */
const ENDPOINTS = (process.env.BENCH_ENDPOINTS ?? '1,10,1000').split(',').map(Number)
/** The stores to measure, separated by commas. */
const STORES = (process.env.BENCH_STORES ?? 'file,postgres,redis').split(',')
/** `BENCH_THREAD=0` measures without the thread that sends while much is sent. */
const SENDING_THREAD = process.env.BENCH_THREAD === '0' ? {} : { sendingThread: { privateTargets: 'loopback' } }
/** Requests at once of the bare client: as many as the service has for one endpoint. */
const BARE_REQUESTS = 32
const BARE_MS = 5_000
const TYPE = 'message.received'
const DELIVERIES_PER_TRANSACTION = 100
/** Recording pauses at this many unsent deliveries, which keeps the sender busy. */
const MAX_UNSENT = 2000
const STEADY_PER_SECOND = 400
const STEADY_MS = 10_000
const MAX_CPU_US = 120

/** An engine on a new database. */
interface Installation {
  title: string
  limit: Limit
  /** The most CPU time that a delivery may take, in µs. */
  cpuLimit?: Limit
  open(run: (app: WebhookFixture) => Promise<void>): Promise<void>
}

const INSTALLATIONS: Record<string, Installation> = {
  file: {
    title: 'file store',
    limit: { atLeast: 8_000 },
    cpuLimit: { atMost: MAX_CPU_US },
    open: onFileStore,
  },
  postgres: { title: 'PostgreSQL', limit: { atLeast: 5_000 }, open: onPostgres },
  redis: { title: 'PostgreSQL + Redis', limit: { atLeast: 5_000 }, open: onPostgresAndRedis },
}

/**
 * The rate that the engine sustains, beside bare undici, which only sends. Events are recorded as fast as they are delivered; each
 * makes an event row, and for each endpoint a delivery row, a signed request and an attempt row. All rows are counted afterwards. Then,
 * at a steady pace, the time from recording to the first attempt.
 */
export async function deliver(say: (line: string) => void): Promise<void> {
  const sink = await startSink()
  try {
    for (const name of STORES) {
      const installation = INSTALLATIONS[name]
      if (installation === undefined) throw new Error(`There is no store "${name}".`)
      for (const endpoints of ENDPOINTS) {
        await installation.open((app) => measure(installation, app, { endpoints, sink, say }))
      }
    }
  } finally {
    sink.stop()
  }
}

interface Case {
  endpoints: number
  sink: Sink
  say: (line: string) => void
}

/** Closes the engine and its database afterwards. */
async function measure(
  { title, limit, cpuLimit }: Installation,
  app: WebhookFixture,
  { endpoints, sink, say }: Case,
): Promise<void> {
  const { db } = app
  await migrateUp(db, migrations, () => {})
  for (let created = 0; created < endpoints; created += 1) await app.create({ url: sink.url, eventTypes: [TYPE] })
  await app.engine.start()
  const cpuUs: number[] = []
  const events = { recorded: 0 }
  const compared = await inTurns(
    async () => {
      const cpu = process.cpuUsage()
      const startedMs = performance.now()
      await recordAsDelivered(app, sink, { endpoints, deliveries: DELIVERIES, events })
      await allDelivered(app)
      const { user, system } = process.cpuUsage(cpu)
      cpuUs.push((user + system) / DELIVERIES)
      return (DELIVERIES / (performance.now() - startedMs)) * 1000
    },
    () => bareUndici(sink.url, BARE_REQUESTS, BARE_MS),
  )
  const what = `${title}, ${endpoints.toLocaleString('en')} endpoint${endpoints === 1 ? '' : 's'}`
  sayVerdict(say, judge({ bench: 'deliver', what, unit: '/s', limit }, compared))
  if (cpuLimit === undefined) say(`${what.padEnd(41)}${median(cpuUs).toFixed(0)} µs of CPU each`)
  else sayVerdict(say, judge({ bench: 'deliver', what: `${what}, CPU`, unit: 'µs', limit: cpuLimit }, { ours: cpuUs }))
  await countRows(db, events.recorded, endpoints)
  if (endpoints === 1)
    say(`  stored to first attempt, ${STEADY_PER_SECOND}/s          ${spread(await steadyWaits(app))}`)
  await app.close()
  await db.close()
}

async function onFileStore(run: (app: WebhookFixture) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  try {
    const db = openSqlite({ file: join(folder, 'posthorn.db'), synchronous: 'NORMAL', onSlowStatement: () => {} })
    await run(webhookFixture(db, SENDING_THREAD))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function onPostgres(run: (app: WebhookFixture) => Promise<void>): Promise<void> {
  await withPostgres((db) => run(webhookFixture(db, SENDING_THREAD)))
}

async function onPostgresAndRedis(run: (app: WebhookFixture) => Promise<void>): Promise<void> {
  await withPostgres(async (db) => {
    const server = await startRedis()
    const deps = { redis: await openRedis({ url: server.url, log: silentLog }), log: silentLog, clock: systemClock }
    try {
      const bus = await openRedisBus(deps)
      const queue = redisQueue({ ...deps, ids: idGenerator(systemClock) })
      await run(webhookFixture(db, { ...SENDING_THREAD, bus, queue, claims: sharedClaims(deps) }))
    } finally {
      await deps.redis.close()
      await server.close()
    }
  })
}

/** Runs on a new database. Skipped without a PostgreSQL server. */
async function withPostgres(run: (db: Db) => Promise<void>): Promise<void> {
  const server = await findServer()
  if (server === undefined) return
  const name = `posthorn_bench_${process.pid}`
  try {
    await administer(server.url, `create database "${name}"`)
    await run(openPostgres({ url: databaseUrl(server.url, name), maxConnections: 10, onError: console.error }))
    await administer(server.url, `drop database "${name}" with (force)`)
  } finally {
    await server.stop()
  }
}

const buildEvents = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ type: TYPE, objectId: `msg_${from + index}`, data: DATA }) as const)

/** Records the events of so many deliveries, no faster than they are delivered; `events` counts those of all rounds. */
export async function recordAsDelivered(
  app: WebhookFixture,
  sink: Sink,
  { endpoints, deliveries, events }: { endpoints: number; deliveries: number; events: { recorded: number } },
): Promise<void> {
  const before = await sink.received()
  const perTransaction = Math.max(1, Math.floor(DELIVERIES_PER_TRANSACTION / endpoints))
  const total = Math.ceil(deliveries / endpoints)
  for (let made = 0; made < total; made += perTransaction) {
    while (made * endpoints - ((await sink.received()) - before) >= MAX_UNSENT) await sleep(5)
    const count = Math.min(perTransaction, total - made)
    await app.record(...buildEvents(events.recorded, count))
    events.recorded += count
  }
}

/** Milliseconds from recording to the first attempt, at a steady pace. */
async function steadyWaits(app: WebhookFixture): Promise<number[]> {
  const sinceMs = Date.now()
  const startedMs = performance.now()
  const count = Math.round((STEADY_PER_SECOND * STEADY_MS) / 1000)
  for (let recorded = 0; recorded < count; recorded += 1) {
    await app.record(...buildEvents(recorded, 1))
    await sleep(Math.max(0, ((recorded + 1) / STEADY_PER_SECOND) * 1000 - (performance.now() - startedMs)))
  }
  await allDelivered(app)
  return waits(app.db, sinceMs)
}

export async function allDelivered({ db }: WebhookFixture): Promise<void> {
  await eventually(
    async () => {
      const unstamped = await db.read.selectFrom('events').select('id').where('position', 'is', null).limit(1).execute()
      const waiting = db.read
        .selectFrom('webhookDeliveries')
        .select('id')
        .where('nextAttemptAt', 'is not', null)
        .limit(1)
      return unstamped.length === 0 && (await waiting.execute()).length === 0
    },
    600_000,
    20,
  )
}

/** Throws unless every event has exactly one delivery for each endpoint, which succeeded at the first attempt. */
async function countRows({ read }: Db, events: number, endpoints: number): Promise<void> {
  const count = async (table: 'events' | 'webhookDeliveries' | 'webhookAttempts') =>
    (
      await read
        .selectFrom(table)
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
    ).count
  const { count: succeeded } = await read
    .selectFrom('webhookDeliveries')
    .where('status', '=', 'success')
    .where('attempt', '=', 1)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const found = [await count('events'), await count('webhookDeliveries'), await count('webhookAttempts'), succeeded]
  const deliveries = events * endpoints
  const expected = [events, deliveries, deliveries, deliveries]
  if (found.join() === expected.join()) return
  const failed = await read
    .selectFrom('webhookAttempts')
    .where('errorKind', 'is not', null)
    .groupBy(['errorKind', 'errorMessage'])
    .select(['errorKind', 'errorMessage', (eb) => eb.fn.countAll().as('count')])
    .execute()
  throw new Error(`${found.join(', ')} rows instead of ${expected.join(', ')}; failed: ${JSON.stringify(failed)}`)
}

async function waits({ read }: Db, sinceMs: number): Promise<number[]> {
  const rows = await read
    .selectFrom('webhookAttempts')
    .innerJoin('webhookDeliveries', 'webhookDeliveries.id', 'webhookAttempts.deliveryId')
    .innerJoin('events', 'events.id', 'webhookDeliveries.eventId')
    .where('events.createdAt', '>=', sinceMs)
    .select(['webhookAttempts.startedAt', 'events.createdAt'])
    .execute()
  return rows.map((row) => row.startedAt - row.createdAt)
}
