import { sql } from 'kysely'
import { migrations } from '../src/migrations/index.ts'
import { type Db, migrateUp } from '../src/platform/db/index.ts'
import { openDatabase } from '../test/kit/database/open-database.ts'
import { administer } from '../test/kit/database/postgres-server.ts'
import { eventually } from '../test/kit/eventually.ts'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { startBareServer } from './bare-server.ts'
import { cpuMs, percentile } from './figures.ts'
import { type LoadGenerator, type LoadResult, startLoad } from './load.ts'
import { seedMessages } from './message-seed.ts'
import { slowStatements } from './new-mail.ts'
import { onEachStore, type Place } from './stores.ts'

const MESSAGES = Number(process.env.BENCH_ROWS ?? 100_000)
const LIMIT = 50
const RUN_MS = Number(process.env.BENCH_SECONDS ?? 2) * 1000
const ROUNDS = 7
const WARM_UP_MS = 1000
/** Page numbers of the deep cursors, requested in turn. */
const DEEP = { from: Math.floor(MESSAGES / LIMIT) - 500, count: 20 }
/** More pages than the service keeps in memory, so that each is read from the store. */
const STORED = { from: DEEP.from + DEEP.count, count: 450 }

/**
 * `GET /accounts/{id}/messages?limit=50` over ten connections: the first page, pages deep in the list by cursor, and so many
 * of them that none is still in memory. Each response is compared with the expected bytes. A bare Fastify route that sends the same bytes from memory is the
 * reference.
 */
export async function list(say: (line: string) => void): Promise<void> {
  const load = await startLoad()
  try {
    await onEachStore(say, (title, place) => measure(title, place, load, say))
  } finally {
    load.stop()
  }
}

async function measure(title: string, place: Place, load: LoadGenerator, say: (line: string) => void): Promise<void> {
  const db = openDatabase(place)
  await migrateUp(db, migrations, () => {})
  const { accountId, newestFirst } = await seedMessages(db, MESSAGES)
  // Autovacuum does this in operation; the test server has none.
  if (db.engine === 'postgres') await administer(place.databaseUrl ?? '', 'vacuum analyze')
  await db.close()
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info' } })
  const backends = place.databaseUrl === undefined ? undefined : openDatabase(place)
  try {
    // The seeded messages have no index yet, and what is measured is a mailbox at rest.
    await eventually(() => service.output().includes('The search index is complete.'), 600_000, 250)
    const pages = await readPages(service, accountId, newestFirst)
    const bare = await startBareServer(pages.first)
    const cpu = async () => ({ service: await cpuMs(service.pid), database: await backendCpuMs(backends) })
    const results: Record<'bare' | 'first' | 'deep' | 'stored', Round[]> = { bare: [], first: [], deep: [], stored: [] }
    const read = (requests: readonly Expected[], forMs: number) =>
      timed(cpu, () => load.run({ ...service, pages: requests }, forMs))
    for (const requests of [pages.first, pages.deep, pages.stored]) await read(requests, WARM_UP_MS)
    for (let round = 0; round < ROUNDS; round += 1) {
      results.bare.push(await bare.run(load, pages.first, RUN_MS))
      const order = ['first', 'deep'] as const
      for (const name of round % 2 === 0 ? order : order.toReversed())
        results[name].push(await read(pages[name], RUN_MS))
    }
    for (let round = 0; round < ROUNDS; round += 1) results.stored.push(await read(pages.stored, RUN_MS))
    bare.stop()
    const reference = median(results.bare)
    say(`${title}, ${MESSAGES.toLocaleString('en')} messages, pages of ${LIMIT} (${kilobytes(pages.first)})`)
    for (const [name, rounds] of Object.entries(results)) say(`  ${line(name, median(rounds), reference)}`)
    say(`  cursors / first page, per round   ${ratioPerRound(results.deep, results.first)}`)
    say(`  load generator                    ${median(results.first).ownCpuMs.toFixed(3)} ms of CPU per request`)
    say(`  slow statements (over 20 ms)      ${slowStatements(service.output())}`)
  } finally {
    await backends?.close()
    await service.stop()
  }
}

/** A result with the CPU time per request of the server and, on PostgreSQL, of the connections to the database. */
type Round = LoadResult & { cpuMs: number; databaseCpuMs: number }

async function timed(
  cpu: () => Promise<{ service: number; database: number }>,
  run: () => Promise<LoadResult>,
): Promise<Round> {
  const before = await cpu()
  const result = await run()
  const after = await cpu()
  return {
    ...result,
    cpuMs: (after.service - before.service) / result.requests,
    databaseCpuMs: (after.database - before.database) / result.requests,
  }
}

async function backendCpuMs(db: Db | undefined): Promise<number> {
  if (db === undefined) return 0
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(db.read)
  let sum = 0
  for (const { pid } of rows) sum += await cpuMs(pid)
  return sum
}

type Expected = { path: string; body: string }

/** Reads the pages once and compares their ids and their content with what was stored. */
async function readPages(
  { url, key }: { url: string; key: string },
  accountId: string,
  newestFirst: readonly { id: string; subject: string }[],
): Promise<{ first: Expected[]; deep: Expected[]; stored: Expected[] }> {
  const base = `/accounts/${accountId}/messages?limit=${LIMIT}`
  const read = async (path: string, page: number) => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
    const body = await response.text()
    const { messages, pagination }: ListBody = JSON.parse(body)
    const expected = newestFirst.slice((page - 1) * LIMIT, page * LIMIT)
    const found = messages.map(({ id, subject }) => ({ id, subject }))
    if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`Page ${page} has other messages.`)
    if (pagination.total !== newestFirst.length) throw new Error(`The total is ${pagination.total}.`)
    return { path, body, nextCursor: pagination.nextCursor }
  }
  const first = await read(base, 1)
  const byCursor: Expected[] = []
  let { nextCursor } = await read(`${base}&page=${DEEP.from - 1}`, DEEP.from - 1)
  for (let page = DEEP.from; page < STORED.from + STORED.count; page += 1) {
    const next = await read(`${base}&cursor=${nextCursor}`, page)
    byCursor.push(next)
    nextCursor = next.nextCursor
  }
  return { first: [first], deep: byCursor.slice(0, DEEP.count), stored: byCursor.slice(DEEP.count) }
}

interface ListBody {
  messages: { id: string; subject: string }[]
  pagination: { total: number; nextCursor?: string }
}

function median<T extends LoadResult>(rounds: readonly T[]): T {
  const sorted = rounds.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (middle === undefined) throw new Error('nothing was measured')
  return middle
}

function ratioPerRound(rounds: readonly LoadResult[], references: readonly LoadResult[]): string {
  const ratios = rounds.map((round, index) => round.requestsPerSecond / (references[index]?.requestsPerSecond ?? 0))
  return `${percentile(ratios, 0.5).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`
}

function line(name: string, round: Round, bare: Round): string {
  const { requestsPerSecond, cpuMs: own, databaseCpuMs, p50, p99 } = round
  const title = {
    bare: 'bare Fastify, bytes from memory',
    first: 'first page',
    deep: `cursors of pages ${DEEP.from}…`,
    stored: `${STORED.count} pages, none in memory`,
  }[name]
  const database = databaseCpuMs > 0 ? ` + ${databaseCpuMs.toFixed(2)} database` : ''
  return [
    `${(title ?? name).padEnd(33)} ${Math.round(requestsPerSecond).toLocaleString('en').padStart(6)}/s`,
    `p50 ${p50.toFixed(1)} · p99 ${p99.toFixed(1)} ms`,
    `${own.toFixed(2)}${database} ms of CPU each`,
    `${(bare.requestsPerSecond / requestsPerSecond).toFixed(2)} × bare`,
  ].join('   ')
}

function kilobytes([page]: readonly Expected[]): string {
  return `${(Buffer.byteLength(page?.body ?? '') / 1024).toFixed(0)} kB`
}
