import { sql } from 'kysely'
import type { Db } from '../src/platform/db/index.ts'
import { openDatabase } from '../test/kit/database/open-database.ts'
import { administer } from '../test/kit/database/postgres-server.ts'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { startBareServer } from './bare-server.ts'
import { copyAccount } from './copied-account.ts'
import { cpuMs, percentile } from './figures.ts'
import { type LoadGenerator, type LoadResult, startLoad } from './load.ts'
import { seedAccount, seedInbox, seedMessages } from './message-seed.ts'
import { slowStatements } from './new-mail.ts'
import { onEachStore, type Place } from './stores.ts'

const MESSAGES = Number(process.env.BENCH_ROWS ?? 100_000)
/** Messages of all accounts: the one above, and others of 5,000 that are copied until there are so many. */
const TOTAL = Number(process.env.BENCH_TOTAL ?? MESSAGES)
const COPIED_MESSAGES = 5_000
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
  await completeSearchIndex(place)
  const db = openDatabase(place)
  const { accountId, newestFirst } = await seedMessages(db, MESSAGES)
  const others = await seedOthers(db, TOTAL - MESSAGES)
  await db.transaction((tx) => tx.deleteFrom('unindexedMessages').execute())
  // Autovacuum does this in operation; the test server has none.
  if (db.engine === 'postgres') await administer(place.databaseUrl ?? '', 'vacuum analyze')
  await db.close()
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info' } })
  const backends = place.databaseUrl === undefined ? undefined : openDatabase(place)
  try {
    const pages = { ...(await readPages(service, accountId, newestFirst)), others: await readOthers(service, others) }
    const bare = await startBareServer(pages.first)
    const cpu = async () => ({ service: await cpuMs(service.pid), database: await backendCpuMs(backends) })
    const results: Record<'bare' | keyof typeof pages, Round[]> = {
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
      if (others !== undefined) results.others.push(await read(pages.others, RUN_MS))
    }
    bare.stop()
    const reference = median(results.bare)
    const count = `${MESSAGES.toLocaleString('en')} of ${TOTAL.toLocaleString('en')} messages`
    say(`${title}, ${count}, pages of ${LIMIT} (${kilobytes(pages.first)})`)
    for (const [name, rounds] of Object.entries(results)) {
      if (rounds.length > 0) say(`  ${line(name, median(rounds), reference)}`)
    }
    say(`  cursors / first page, per round   ${ratioPerRound(results.deep, results.first)}`)
    say(`  load generator                    ${median(results.first).ownCpuMs.toFixed(3)} ms of CPU per request`)
    say(`  slow statements (over 20 ms)      ${slowStatements(service.output())}`)
  } finally {
    await backends?.close()
    await service.stop()
  }
}

/** The index of an empty store is complete, so nothing that is stored afterwards by SQL is indexed: what is measured is a mailbox at rest. */
async function completeSearchIndex(place: Place): Promise<void> {
  const service = await startServiceProcess({ ...place })
  await service.stop()
}

/** Accounts that only fill the tables. */
interface Others {
  accountIds: string[]
  /** The same in each account. */
  newestFirst: readonly { subject: string }[]
}

async function seedOthers(db: Db, messages: number): Promise<Others | undefined> {
  if (messages < COPIED_MESSAGES) return undefined
  const first = await seedInbox(db, await seedAccount(db, 'other'), COPIED_MESSAGES)
  const accountIds = [first.accountId]
  while ((accountIds.length + 1) * COPIED_MESSAGES <= messages) {
    accountIds.push(await copyAccount(db, first, accountIds.length))
  }
  return { accountIds, newestFirst: first.newestFirst }
}

/** The first pages of other accounts. */
async function readOthers({ url, key }: { url: string; key: string }, others: Others | undefined): Promise<Expected[]> {
  const pages: Expected[] = []
  for (const accountId of others?.accountIds.slice(0, STORED.count) ?? []) {
    const path = `/accounts/${accountId}/messages?limit=${LIMIT}`
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })
    const body = await response.text()
    const subjects = (JSON.parse(body) as ListBody).messages.map(({ subject }) => subject)
    const expected = others?.newestFirst.slice(0, LIMIT).map(({ subject }) => subject) ?? []
    if (subjects.join() !== expected.join()) throw new Error(`The first page of ${accountId} has other messages.`)
    pages.push({ path, body })
  }
  return pages
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

function kilobytes([page]: readonly Expected[]): string {
  return `${(Buffer.byteLength(page?.body ?? '') / 1024).toFixed(0)} kB`
}
