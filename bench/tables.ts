import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'undici'
import { administer } from '../test/kit/database/postgres-server.ts'
import { eventually } from '../test/kit/eventually.ts'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { cpuMs, percentile, spread } from './figures.ts'
import { getJson } from './get-json.ts'
import { slowStatements } from './new-mail.ts'
import { buildTables, PAGE, type Table } from './portal-tables.ts'
import { type Prober, startProber } from './prober.ts'
import { onEachStore, type Place } from './stores.ts'
import { seedTables } from './table-seed.ts'

const ROWS = Number(process.env.BENCH_ROWS ?? 100_000)
const REQUESTS = 30
const LIMIT_MS = 100
const MAX_COUNT = 10_000
/** Each of the accounts runs once, and finds that it is paused. On PostgreSQL that takes minutes. */
const SETTLE_MS = 1_200_000

interface ListBody {
  pagination: { total: number; totalCapped?: boolean }
  [rows: string]: unknown
}

interface QueueCounts {
  accounts: number
  waiting: number
  active: number
  delayed: number
}

/**
 * The tables of the portal with 100,000 rows behind each (`BENCH_ROWS`): the first, the middle and the last page, requested by number as
 * the portal does, one request at a time. The rows of every response and its total are compared with what was stored.
 */
export async function tables(say: (line: string) => void): Promise<void> {
  await onEachStore(say, (title, place) => measure(title, place, say))
}

async function measure(title: string, place: Place, say: (line: string) => void): Promise<void> {
  const seeded = await seedTables(place, ROWS)
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info' } })
  const connection = new Client(service.url)
  let prober: Prober | undefined
  try {
    await settled(service)
    // The service has updated every account to own it. In operation autovacuum follows; the test server has none.
    if (place.databaseUrl !== undefined) await administer(place.databaseUrl, 'vacuum analyze')
    prober = await startProber(service.url, '/health/ready', service.key)
    say(`${title}, ${ROWS.toLocaleString('en')} rows in each table, ${REQUESTS} requests of each page`)
    let missed = 0
    for (const table of buildTables(seeded, ROWS)) {
      for (const [name, page] of await readPages(connection, service, table)) {
        const slowBefore = slowStatements(service.output())
        await prober.take()
        const samples: number[] = []
        for (let request = -3; request < REQUESTS; request += 1) {
          const tookMs = await turn(connection, service, table, page)
          // The first ones read from the disk and compile code.
          if (request >= 0) samples.push(tookMs)
        }
        const live = percentile((await prober.take()).live, 0.99)
        const slow = Math.max(0, slowStatements(service.output()) - slowBefore)
        const isWithin = percentile(samples, 0.95) <= LIMIT_MS
        if (!isWithin) missed += 1
        const about = `${table.name}, ${name}`.padEnd(46)
        const verdict = isWithin ? 'ok' : 'MISSED'
        say(
          `  ${about} ${spread(samples)}  (limit ${LIMIT_MS}) ${verdict}   live p99 ${live.toFixed(0)}   slow ${slow}`,
        )
      }
    }
    say(`  page turns over ${LIMIT_MS} ms (p95): ${missed}`)
    for (const text of slowTexts(service.output())) say(`  slow: ${text}`)
  } finally {
    prober?.stop()
    await connection.close()
    await service.stop()
  }
}

/** Each slow statement of the service's newest log records, with its longest time. */
function slowTexts(output: string): string[] {
  const longest = new Map<string, number>()
  for (const line of output.split('\n').filter((text) => text.includes('"db.slow"'))) {
    const { durationMs, metadata } = JSON.parse(line)
    longest.set(metadata.sql, Math.max(durationMs, longest.get(metadata.sql) ?? 0))
  }
  return [...longest].map(([text, ms]) => `${ms.toFixed(0)} ms ${text.replaceAll(/\s+/g, ' ').slice(0, 160)}`)
}

/** Waits until the service owns all accounts, whose rows it updates for that, and is idle. */
async function settled({ url, key, pid }: ServiceProcess): Promise<void> {
  const api = client(url, key)
  await eventually(
    async () => {
      const counts = await api.call<QueueCounts>('GET', '/debounced-queue/status')
      const { accounts, waiting, active, delayed } = counts
      if (accounts < ROWS || waiting + active + delayed > 0) throw new Error(`Not idle: ${JSON.stringify(counts)}`)
      const before = await cpuMs(pid)
      await sleep(2000)
      if ((await cpuMs(pid)) - before > 300) throw new Error('The service has work to do.')
    },
    SETTLE_MS,
    1000,
  )
}

/** Their first, middle and last page. */
async function readPages(connection: Client, service: ServiceProcess, table: Table): Promise<[string, number][]> {
  const limit = table.limit ?? PAGE
  const total = table.expected?.length ?? (await read(connection, service, table, 1)).pagination.total
  const last = Math.max(1, Math.ceil(total / limit))
  const middle = Math.ceil(last / 2)
  if (last === 1) return [[`all ${total}`, 1]]
  return [
    ['first page', 1],
    ...(middle > 1 && middle < last ? [[`page ${middle}`, middle] satisfies [string, number]] : []),
    // The oldest records are dropped from memory while new ones arrive.
    ...(table.expected === undefined ? [] : [[`last page (${last})`, last] satisfies [string, number]]),
  ]
}

/** Reads a page, compares it with what was stored, and returns how long the response took. */
async function turn(connection: Client, service: ServiceProcess, table: Table, page: number): Promise<number> {
  const { limit = PAGE, expected } = table
  const startMs = performance.now()
  const body = await read(connection, service, table, page)
  const tookMs = performance.now() - startMs
  const ids = (body[table.rows] as Record<string, unknown>[]).map((row) => String(row[table.id ?? 'id']))
  const { total, totalCapped = false } = body.pagination
  const wanted = expected?.slice((page - 1) * limit, page * limit) ?? ids.toSorted().reverse()
  if (ids.join() !== wanted.join()) throw new Error(`${table.name}, page ${page}: other rows than expected: ${ids}`)
  const count = expected?.length ?? total
  if (total !== (totalCapped ? MAX_COUNT : count) || (totalCapped && count <= MAX_COUNT)) {
    throw new Error(`${table.name}: the total is ${total}, not ${count}.`)
  }
  return tookMs
}

async function read(connection: Client, { key }: ServiceProcess, table: Table, page: number): Promise<ListBody> {
  const query = `page=${page}&limit=${table.limit ?? PAGE}`
  const path = `${table.path}${table.path.includes('?') ? '&' : '?'}${query}`
  return (await getJson<ListBody>(connection, key, path)).body
}
