import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Client } from 'undici'
import { migrations } from '../src/migrations/index.ts'
import { type Db, findState, migrateUp } from '../src/platform/db/index.ts'
import { openDatabase } from '../test/kit/database/open-database.ts'
import { administer } from '../test/kit/database/postgres-server.ts'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { percentile } from './figures.ts'
import { getJson } from './get-json.ts'
import { slowStatements } from './new-mail.ts'
import { startProber } from './prober.ts'
import { forgetIndex, mailBesideIndexing } from './search-mail.ts'
import { QUERIES, type Query, type SearchSeed, seedForSearch, since } from './search-seed.ts'
import { onEachStore, type Place, seedOnce } from './stores.ts'
import { judge, sayVerdict } from './verdict.ts'

const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 20)
const MESSAGES = Number(process.env.BENCH_ROWS ?? 50_000)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 40)
const CONNECTIONS = [1, 4]
const LIMIT = 50
const POLL_MS = 2000
const MAX_BUILD_MS = 3_600_000
/** `BENCH_MAIL=0` leaves out the mail that arrives while the index is built. */
const MEASURES_MAIL = process.env.BENCH_MAIL !== '0'
/** Milliseconds (p95) with one request at a time. */
const MAX_P95_MS = { sqlite: 50, postgres: 100 }
/** The same with four at once. */
const MAX_SHARED_P95_MS = 100
const MAX_HEALTH_MS = 50

/**
 * Searches in one account of many: response times of each kind of query, and of `/health/live` meanwhile. Every fourth
 * search continues with its next two pages. The index is built by the service itself; its rate is printed too. Then it is built again
 * while messages arrive.
 */
export async function search(say: (line: string) => void): Promise<void> {
  await onEachStore(say, (title, place) => measure(title, place, say))
}

async function measure(title: string, place: Place, say: (line: string) => void): Promise<void> {
  say(`${title}, ${ACCOUNTS} accounts of ${MESSAGES.toLocaleString('en')} messages`)
  const db = openDatabase(place)
  try {
    await migrateUp(db, migrations, () => {})
    const { accountIds } = await seedOnce(place, async (earlier: SearchSeed | undefined) => {
      const stored = earlier?.accountIds.length ?? 0
      const seeded = await seedForSearch(db, { accounts: ACCOUNTS, messages: MESSAGES }, say, earlier)
      if (seeded.accountIds.length !== stored) {
        if (stored > 0) await forgetIndex(db, place)
        await buildIndex(db, place, seeded.accountIds, say)
      }
      return seeded
    })
    const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info' } })
    try {
      await searchAll({ title, engine: db.engine }, service, accountIds, say)
    } finally {
      await service.stop()
    }
    if (MEASURES_MAIL) await mailBesideIndexing(title, { db, place, accountId: accountIds[0] ?? '' }, say)
  } finally {
    await db.close()
  }
}

/** On PostgreSQL the words are stored before their index, which is several times as fast. */
async function buildIndex(db: Db, place: Place, accountIds: string[], say: (line: string) => void): Promise<void> {
  const url = place.databaseUrl
  const startMs = performance.now()
  const definition = url === undefined ? undefined : await termsIndex(db)
  if (url !== undefined) await administer(url, 'drop index "messageTerms_terms"')
  const service = await startServiceProcess(place)
  try {
    await built(db, service, accountIds, say)
  } finally {
    await service.stop()
  }
  if (url !== undefined && definition !== undefined) {
    say(`  words stored after ${since(startMs)}`)
    await administer(url, `set maintenance_work_mem = '1GB'; ${definition}`)
    // Autovacuum does this in operation; the test server has none.
    await administer(url, 'vacuum analyze')
  }
  const perSecond = (ACCOUNTS * MESSAGES) / ((performance.now() - startMs) / 1000)
  say(`  indexed after ${since(startMs)}: ${Math.round(perSecond).toLocaleString('en')} messages per second`)
}

async function termsIndex(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{ indexdef: string }>`select indexdef from pg_indexes
    where indexname = 'messageTerms_terms'`.execute(db.read)
  return rows[0]?.indexdef
}

/** Waits until a search in the account that is indexed last is no longer partial. */
async function built(db: Db, service: ServiceProcess, accountIds: string[], say: (line: string) => void) {
  const startMs = performance.now()
  const connection = new Client(service.url)
  let sinceSaid = 0
  for (;;) {
    const { body } = await getJson<ListBody>(
      connection,
      service.key,
      `/accounts/${accountIds[0]}/messages?q=regards&limit=1`,
    )
    if (body.pagination.partial === undefined) break
    if (performance.now() - startMs > MAX_BUILD_MS) throw new Error('The index was not built within an hour.')
    sinceSaid += 1
    if (sinceSaid % 10 === 0) say(`  indexing for ${since(startMs)}: ${await remaining(db)} messages are left`)
    await sleep(POLL_MS)
  }
  await connection.close()
}

async function remaining(db: Db): Promise<string> {
  const state = JSON.parse((await findState(db.read, 'search.index')) ?? '{}')
  const { rows } = await sql<{ left: number }>`select count(*) as "left" from "messages"
    where "id" < ${String(state.before ?? '')}`.execute(db.read)
  return Number(rows[0]?.left ?? 0).toLocaleString('en')
}

interface Sample {
  kind: string
  tookMs: number
}

async function searchAll(
  about: { title: string; engine: Db['engine'] },
  service: ServiceProcess,
  accountIds: string[],
  say: (line: string) => void,
): Promise<void> {
  await checkResults(service, accountIds)
  for (const connections of CONNECTIONS) {
    const prober = await startProber(service.url, `/accounts/${accountIds[0]}/messages?limit=${LIMIT}`, service.key)
    await prober.take()
    const slowBefore = slowStatements(service.output())
    const share = Math.ceil(ROUNDS / connections)
    const runs = Array.from({ length: connections }, (_, index) =>
      searchOn(service, accountIds, { from: index * share, rounds: share }),
    )
    const samples = (await Promise.all(runs)).flat()
    const { live } = await prober.take()
    prober.stop()
    const slow = slowStatements(service.output()) - slowBefore
    say(
      `  ${connections} at once: ${times(samples)}   /health/live p99 ${percentile(live, 0.99).toFixed(0)} ms   slow statements ${slow}`,
    )
    const p95 = percentile(
      samples.map(({ tookMs }) => tookMs),
      0.95,
    )
    const what = `${about.title}, ${connections} at once`
    const limit = { atMost: connections === 1 ? MAX_P95_MS[about.engine] : MAX_SHARED_P95_MS }
    sayVerdict(say, judge({ bench: 'search', what: `${what}, p95`, unit: 'ms', limit }, { ours: [p95] }))
    const health = { bench: 'search', what: `${what}, /health/live p99`, unit: 'ms', limit: { atMost: MAX_HEALTH_MS } }
    sayVerdict(say, judge(health, { ours: [percentile(live, 0.99)] }))
    if (connections > 1) continue
    for (const { kind } of QUERIES) say(`    ${times(samples.filter((sample) => sample.kind === kind))}  ${kind}`)
  }
}

/** Also warms the caches a little. */
async function checkResults(service: ServiceProcess, accountIds: readonly string[]): Promise<void> {
  const connection = new Client(service.url)
  for (const accountId of accountIds.slice(0, 2)) {
    for (const query of QUERIES) {
      const { body } = await getJson<ListBody>(connection, service.key, buildPath(accountId, query, 1))
      const { total, totalCapped, partial } = body.pagination
      const expected = query.found?.(MESSAGES)
      const isRight = expected === undefined || (totalCapped ? total <= expected : total === expected)
      if (!isRight || partial) throw new Error(`"${query.kind}" found ${total} messages instead of ${expected}.`)
    }
  }
  await connection.close()
}

/** Each round sends every kind of query once, to an account of its own. */
async function searchOn(
  { url, key }: ServiceProcess,
  accountIds: readonly string[],
  { from, rounds }: { from: number; rounds: number },
): Promise<Sample[]> {
  const connection = new Client(url)
  const samples: Sample[] = []
  for (let round = from; round < from + rounds; round += 1) {
    for (const [index, query] of QUERIES.entries()) {
      const n = round * QUERIES.length + index
      const path = buildPath(accountIds[(n * 7) % accountIds.length] ?? '', query, n)
      let cursor = ''
      for (let page = 0; page < (n % 4 === 0 ? 3 : 1); page += 1) {
        const { body, tookMs } = await getJson<ListBody>(connection, key, path + cursor)
        samples.push({ kind: query.kind, tookMs })
        if (body.pagination.nextCursor === undefined) break
        cursor = `&cursor=${body.pagination.nextCursor}`
      }
    }
  }
  await connection.close()
  return samples
}

function buildPath(accountId: string, { params }: Query, n: number): string {
  return `/accounts/${accountId}/messages?${new URLSearchParams({ ...params(n, MESSAGES), limit: String(LIMIT) })}`
}

interface ListBody {
  pagination: { total: number; totalCapped?: boolean; partial?: boolean; nextCursor?: string }
}

function times(samples: readonly Sample[]): string {
  const ms = samples.map((sample) => sample.tookMs)
  const [p50, p95, max] = [0.5, 0.95, 1].map((p) => percentile(ms, p).toFixed(1).padStart(6))
  return `p50 ${p50} · p95 ${p95} · max ${max} ms (n = ${ms.length})`
}
