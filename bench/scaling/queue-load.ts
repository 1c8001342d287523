import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { migrations } from '../../src/migrations/index.ts'
import { memoryBus } from '../../src/platform/bus/index.ts'
import { type Db, migrateUp } from '../../src/platform/db/index.ts'
import { openPostgres } from '../../src/platform/db/postgres/postgres.ts'
import { idGenerator } from '../../src/platform/ids.ts'
import { silentLog } from '../../src/platform/log/index.ts'
import { databaseQueue } from '../../src/platform/queue/database.ts'
import type { Queue } from '../../src/platform/queue/index.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { startOwnPostgres } from '../../test/kit/database/postgres-server.ts'
import { readDatabase } from '../costs/database-figures.ts'

const INSTANCES = [1, 10, 50]
/** The queues of a service. */
const QUEUES = ['deliver', 'send', 'book', 'backfill', 'bodies', 'bounces', 'erase', 'retention']
const CONCURRENCY = 4
const RUN_MS = 200
const PERIOD_MS = 20_000
/** More than the first instance can run, so that it wakes the others. */
const JOBS_PER_SECOND = 30

/**
 * Statements of the queue on PostgreSQL, of 1, 10 and 50 instances in this process: while nothing is due, and while one of
 * them adds more jobs than it runs at once.
 */
export async function measureQueue(say: (line: string) => void): Promise<void> {
  const server = await startOwnPostgres({ shared_preload_libraries: 'pg_stat_statements' })
  const db = openPostgres({ url: server.url, maxConnections: 20, onError: console.error })
  try {
    await migrateUp(db, migrations, () => {})
    await sql`create schema statistics`.execute(db.read)
    await sql`create extension pg_stat_statements schema statistics`.execute(db.read)
    say('the queue on PostgreSQL, statements a second:')
    for (const instances of INSTANCES) await measure(db, instances, say)
  } finally {
    await db.close()
    await server.stop()
  }
}

async function measure(db: Db, instances: number, say: (line: string) => void): Promise<void> {
  const bus = memoryBus({ log: silentLog })
  const deps = { db, bus, clock: systemClock, ids: idGenerator(systemClock), log: silentLog }
  const queues = Array.from({ length: instances }, (_, index) => databaseQueue({ ...deps, instanceId: `ins_${index}` }))
  for (const queue of queues) startWorkers(queue)
  try {
    await sleep(PERIOD_MS / 4)
    const idle = await statementsDuring(db, () => sleep(PERIOD_MS))
    const [first] = queues
    const busy = first === undefined ? Number.NaN : await statementsDuring(db, () => addJobs(first))
    const perJob = (busy - idle) / JOBS_PER_SECOND
    say(
      `  ${String(instances).padStart(2)} instances: ${idle.toFixed(1)} idle, ${busy.toFixed(0)} with ${JOBS_PER_SECOND} jobs a second (${perJob.toFixed(1)} for each)`,
    )
  } finally {
    for (const queue of queues) await queue.close()
    await sleep(1000)
  }
}

function startWorkers(queue: Queue): void {
  for (const name of QUEUES) {
    queue.work(name, { concurrency: CONCURRENCY }, async () => {
      await sleep(RUN_MS)
      return undefined
    })
  }
}

async function addJobs(queue: Queue): Promise<void> {
  const endMs = performance.now() + PERIOD_MS
  for (let count = 0; performance.now() < endMs; count += 1) {
    await queue.add('deliver', `key-${count}`)
    await sleep(1000 / JOBS_PER_SECOND)
  }
}

async function statementsDuring(db: Db, work: () => Promise<unknown>): Promise<number> {
  const before = await readDatabase(db)
  const startedMs = performance.now()
  await work()
  const after = await readDatabase(db)
  return ((after.statements - before.statements) / (performance.now() - startedMs)) * 1000
}
