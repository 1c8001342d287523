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
import { spread } from './figures.ts'
import { bareUndici, DATA, type Sink, startSink } from './sink.ts'

const FULL_MS = Number(process.env.BENCH_SECONDS ?? 60) * 1000
/** The stores to measure, separated by commas. */
const STORES = (process.env.BENCH_STORES ?? 'file,postgres,redis').split(',')
/** `BENCH_THREAD=0` measures without the thread that sends while much is sent. */
const SENDING_THREAD = process.env.BENCH_THREAD === '0' ? {} : { sendingThread: { privateTargets: 'loopback' } }
const BARE_MS = FULL_MS / 6
/** One endpoint per type, so each event makes one delivery. */
const TYPES = ['message.received', 'message.sent', 'message.updated', 'message.deleted'] as const
const PER_TRANSACTION = 100
/** Recording pauses at this many unsent deliveries, which keeps the sender busy. */
const MAX_UNSENT = 2000
const STEADY_PER_SECOND = 400
const STEADY_MS = FULL_MS / 6

/**
 * The rate that the engine sustains. Events are recorded as fast as they are delivered; each makes an event row, a delivery
 * row, a signed request and an attempt row, and all rows are counted afterwards. Bare undici, which only sends, is the
 * reference. Then, at a steady pace, the time from recording to the first attempt.
 */
export async function deliver(say: (line: string) => void): Promise<void> {
  const sink = await startSink()
  try {
    const bare = await bareUndici(sink.url, TYPES.length * 8, BARE_MS)
    say(`bare undici, same concurrency            ${rate(bare)}`)
    const all = Object.entries({ file: fileStore, postgres, redis: postgresAndRedis })
    const installations = all.filter(([name]) => STORES.includes(name))
    for (const [, installation] of installations) await installation({ sink, bare, say })
  } finally {
    sink.stop()
  }
}

interface Bench {
  sink: Sink
  /** Requests per second of bare undici. */
  bare: number
  say: (line: string) => void
}

async function fileStore(bench: Bench): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  let slow = 0
  const onSlowStatement = () => {
    slow += 1
  }
  const db = openSqlite({ file: join(folder, 'posthorn.db'), synchronous: 'NORMAL', onSlowStatement })
  try {
    await measure('file store', webhookFixture(db, SENDING_THREAD), bench)
    bench.say(`  slow statements (over 20 ms)           ${slow}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const postgres = (bench: Bench) =>
  withPostgres(async (db) => {
    await measure('PostgreSQL', webhookFixture(db, SENDING_THREAD), bench)
  })

const postgresAndRedis = (bench: Bench) =>
  withPostgres(async (db) => {
    const server = await startRedis()
    const deps = { redis: await openRedis({ url: server.url, log: silentLog }), log: silentLog, clock: systemClock }
    try {
      const bus = await openRedisBus(deps)
      const queue = redisQueue({ ...deps, ids: idGenerator(systemClock) })
      await measure(
        'PostgreSQL + Redis',
        webhookFixture(db, {
          ...SENDING_THREAD,
          bus,
          queue,
          claims: sharedClaims(deps),
        }),
        bench,
      )
    } finally {
      await deps.redis.close()
      await server.close()
    }
  })

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

/** Closes the engine and its database afterwards. */
async function measure(title: string, app: WebhookFixture, { sink, bare, say }: Bench): Promise<void> {
  const { db } = app
  await migrateUp(db, migrations, () => {})
  for (const type of TYPES) await app.create({ url: sink.url, eventTypes: [type] })
  await app.engine.start()
  const cpu = process.cpuUsage()
  const startedMs = performance.now()
  const recorded = await recordFor(app, sink, FULL_MS)
  await allDelivered(app)
  const tookMs = performance.now() - startedMs
  const { user, system } = process.cpuUsage(cpu)
  const perSecond = (recorded / tookMs) * 1000
  const cost = Math.round((user + system) / recorded)
  say(`${title.padEnd(39)}  ${rate(perSecond)}  (${(perSecond / bare).toFixed(2)} × bare, ${cost} µs of CPU each)`)
  say(`  rows afterwards                        ${await countRows(db, recorded)}`)
  const steadyFrom = Date.now()
  const steady = await recordAtPace(app, STEADY_PER_SECOND, STEADY_MS)
  await allDelivered(app)
  say(`  stored to first attempt, full load     ${spread(await waits(db, 0, steadyFrom))}`)
  say(`  stored to first attempt, ${STEADY_PER_SECOND}/s         ${spread(await waits(db, steadyFrom, Date.now()))}`)
  await countRows(db, recorded + steady)
  await app.close()
  await db.close()
}

const buildBatch = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    type: TYPES[(from + index) % TYPES.length] ?? TYPES[0],
    objectId: `msg_${from + index}`,
    data: DATA,
  }))

async function recordFor(app: WebhookFixture, sink: Sink, forMs: number): Promise<number> {
  const endMs = performance.now() + forMs
  const before = await sink.received()
  let recorded = 0
  while (performance.now() < endMs) {
    await app.record(...buildBatch(recorded, PER_TRANSACTION))
    recorded += PER_TRANSACTION
    while (recorded - ((await sink.received()) - before) >= MAX_UNSENT && performance.now() < endMs) await sleep(20)
  }
  return recorded
}

async function recordAtPace(app: WebhookFixture, perSecond: number, forMs: number): Promise<number> {
  const count = Math.round((perSecond * forMs) / 1000)
  const startedMs = performance.now()
  for (let recorded = 0; recorded < count; recorded += 1) {
    await app.record(...buildBatch(recorded, 1))
    await sleep(Math.max(0, ((recorded + 1) / perSecond) * 1000 - (performance.now() - startedMs)))
  }
  return count
}

async function allDelivered({ db }: WebhookFixture): Promise<void> {
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

/** Throws unless every event has exactly one delivery that succeeded at the first attempt. */
async function countRows({ read }: Db, expected: number): Promise<string> {
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
  const rows = [await count('events'), await count('webhookDeliveries'), await count('webhookAttempts'), succeeded]
  if (rows.some((found) => found !== expected)) throw new Error(`${rows.join(', ')} rows instead of ${expected} each`)
  return `${expected.toLocaleString('en')} events, deliveries and attempts each`
}

async function waits({ read }: Db, fromMs: number, toMs: number): Promise<number[]> {
  const rows = await read
    .selectFrom('webhookAttempts')
    .innerJoin('webhookDeliveries', 'webhookDeliveries.id', 'webhookAttempts.deliveryId')
    .innerJoin('events', 'events.id', 'webhookDeliveries.eventId')
    .where('events.createdAt', '>=', fromMs)
    .where('events.createdAt', '<', toMs)
    .select(['webhookAttempts.startedAt', 'events.createdAt'])
    .execute()
  return rows.map((row) => row.startedAt - row.createdAt)
}

const rate = (perSecond: number) => `${Math.round(perSecond).toLocaleString('en')}/s`
