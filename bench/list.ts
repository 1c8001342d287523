import { openDatabase } from '../test/kit/database/open-database.ts'
import { administer } from '../test/kit/database/postgres-server.ts'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { startBareServer } from './bare-server.ts'
import { cpuMs } from './figures.ts'
import {
  completeSearchIndex,
  type Expected,
  firstDeepPage,
  LIMIT,
  type ListSeed,
  readOthers,
  readPages,
  STORED_PAGES,
  seedForList,
} from './list-pages.ts'
import { type LoadGenerator, type LoadResult, startLoad } from './load.ts'
import { slowStatements } from './new-mail.ts'
import { backendMsSince, backendTimes } from './spent.ts'
import { onEachStore, type Place, seedOnce } from './stores.ts'
import { judge, sayVerdict } from './verdict.ts'

const MESSAGES = Number(process.env.BENCH_ROWS ?? 100_000)
/** Messages of all accounts: the one above, and others of 5,000 that are copied until there are so many. */
const TOTAL = Number(process.env.BENCH_TOTAL ?? MESSAGES)
const RUN_MS = Number(process.env.BENCH_SECONDS ?? 2) * 1000
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7)
const WARM_UP_MS = 1000
const MAX_COLD_MS = 120_000
/** Requests per second, as a share of those of bare Fastify. */
const MIN_OF_BARE = 0.5
const MAX_P99_MS = 15
const MIN_OF_FIRST_PAGE = 0.9

/**
 * `GET /accounts/{id}/messages?limit=50` over ten connections: the first page, pages deep in the list by cursor, and so many
 * of them that none is still in memory; then pages after the data was removed from the memory of the machine. Each response is compared
 * with the expected bytes. A bare Fastify route that sends the same bytes from memory is the reference.
 */
export async function list(say: (line: string) => void): Promise<void> {
  const load = await startLoad()
  try {
    await onEachStore(say, (title, place) => measure(title, place, load, say))
  } finally {
    load.stop()
  }
}

type Pages = Record<'first' | 'deep' | 'stored' | 'others', Expected[]>

async function measure(title: string, place: Place, load: LoadGenerator, say: (line: string) => void): Promise<void> {
  const startedMs = performance.now()
  const { mailbox, others } = await seedOnce(place, (earlier: ListSeed | undefined) => seed(place, earlier))
  const count = `${MESSAGES.toLocaleString('en')} of ${TOTAL.toLocaleString('en')} messages`
  say(`${title}, ${count}, pages of ${LIMIT}, stored in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info' } })
  let pages: Pages
  let reference: Round
  try {
    pages = { ...(await readPages(service, mailbox)), others: await readOthers(service, others) }
    reference = await measureWarm(title, { place, service, pages, load }, say)
  } finally {
    await service.stop()
  }
  if (place.cool !== undefined) await measureCold(title, { place, pages, load, reference }, say)
}

interface Warm {
  place: Place
  service: ServiceProcess
  pages: Pages
  load: LoadGenerator
}

/** Returns the median of the bare server. */
async function measureWarm(title: string, { place, service, pages, load }: Warm, say: (line: string) => void) {
  const backends = place.databaseUrl === undefined ? undefined : openDatabase(place)
  const bare = await startBareServer(pages.first)
  try {
    const atStart = await backendTimes(backends)
    const cpu = async () => ({
      service: await cpuMs(service.pid),
      database: await backendMsSince(backends, atStart),
    })
    const results: Record<'bare' | keyof Pages, Round[]> = {
      bare: [],
      first: [],
      deep: [],
      stored: [],
      others: [],
    }
    const read = (requests: readonly Expected[], forMs: number) =>
      timed(cpu, () => load.run({ ...service, pages: requests }, forMs))
    for (const requests of [pages.first, pages.deep, pages.stored]) await read(requests, WARM_UP_MS)
    for (let round = 0; round < ROUNDS; round += 1) {
      results.bare.push(await bare.run(load, pages.first, RUN_MS))
      const order = ['first', 'deep'] as const
      for (const name of round % 2 === 0 ? order : order.toReversed())
        results[name].push(await read(pages[name], RUN_MS))
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      results.stored.push(await read(pages.stored, RUN_MS))
      if (pages.others.length > 0) results.others.push(await read(pages.others, RUN_MS))
    }
    const reference = median(results.bare)
    for (const [name, rounds] of Object.entries(results)) {
      if (rounds.length > 0) say(`  ${line(name, median(rounds), reference)}`)
    }
    say(`  load generator                    ${median(results.first).ownCpuMs.toFixed(3)} ms of CPU per request`)
    say(`  slow statements (over 20 ms)      ${slowStatements(service.output())}`)
    for (const name of ['first', 'deep', 'stored', 'others'] as const) {
      if (results[name].length > 0) sayVerdicts(`${title}, ${name}`, results[name], results.bare, say)
    }
    const ratios = results.deep.map(
      (round, index) => round.requestsPerSecond / (results.first[index]?.requestsPerSecond ?? 0),
    )
    const about = { bench: 'list', what: `${title}, cursors / first page`, unit: '×' }
    sayVerdict(say, judge({ ...about, limit: { atLeast: MIN_OF_FIRST_PAGE } }, { ours: ratios }))
    return reference
  } finally {
    bare.stop()
    await backends?.close()
  }
}

/** Each page once, by a service that has just started, from a store of which nothing is in memory. */
async function measureCold(
  title: string,
  { place, pages, load, reference }: Omit<Warm, 'service'> & { reference: Round },
  say: (line: string) => void,
): Promise<void> {
  for (const name of ['stored', 'others'] as const) {
    if (pages[name].length === 0) continue
    await place.cool?.()
    const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info' } })
    try {
      // The code of the route is warm; the pages are not. Pages that follow others in the index share blocks of the disk.
      await load.run({ ...service, pages: pages.first }, WARM_UP_MS)
      const cold = await load.run({ ...service, pages: pages[name], isOnce: true }, MAX_COLD_MS)
      if (cold.requests !== pages[name].length) throw new Error(`${cold.requests} of ${pages[name].length} were read`)
      sayVerdicts(`${title}, ${name}, cold`, [cold], [reference], say)
    } finally {
      await service.stop()
    }
  }
}

function sayVerdicts(
  what: string,
  ours: readonly LoadResult[],
  bare: readonly LoadResult[],
  say: (line: string) => void,
): void {
  const rates = { ours: ours.map(toRate), bare: bare.map(toRate) }
  sayVerdict(say, judge({ bench: 'list', what, unit: '/s', limit: { ratioAtLeast: MIN_OF_BARE } }, rates))
  const p99 = { bench: 'list', what: `${what}, p99`, unit: 'ms', limit: { atMost: MAX_P99_MS } }
  sayVerdict(say, judge(p99, { ours: ours.map((round) => round.p99) }))
}

const toRate = ({ requestsPerSecond }: LoadResult) => requestsPerSecond

async function seed(place: Place, earlier: ListSeed | undefined): Promise<ListSeed> {
  if (earlier === undefined) await completeSearchIndex(place)
  const db = openDatabase(place)
  try {
    const seeded = await seedForList(db, { messages: MESSAGES, total: TOTAL }, earlier)
    // Autovacuum does this in operation; the test server has none.
    if (db.engine === 'postgres') await administer(place.databaseUrl ?? '', 'vacuum analyze')
    return seeded
  } finally {
    await db.close()
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

function median<T extends LoadResult>(rounds: readonly T[]): T {
  const sorted = rounds.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (middle === undefined) throw new Error('nothing was measured')
  return middle
}

function line(name: string, round: Round, bare: Round): string {
  const { requestsPerSecond, cpuMs: own, databaseCpuMs, p50, p99 } = round
  const title = {
    bare: 'bare Fastify, bytes from memory',
    first: 'first page',
    deep: `cursors of pages ${firstDeepPage(MESSAGES)}…`,
    stored: `${STORED_PAGES} pages, none in memory`,
    others: 'first pages of other accounts',
  }[name]
  const database = databaseCpuMs > 0 ? ` + ${databaseCpuMs.toFixed(2)} database` : ''
  return [
    `${(title ?? name).padEnd(33)} ${Math.round(requestsPerSecond).toLocaleString('en').padStart(6)}/s`,
    `p50 ${p50.toFixed(1)} · p99 ${p99.toFixed(1)} ms`,
    `${own.toFixed(2)}${database} ms of CPU each`,
    `${(bare.requestsPerSecond / requestsPerSecond).toFixed(2)} × bare`,
  ].join('   ')
}
