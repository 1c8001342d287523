import { Client } from 'undici'
import { eventually } from '../test/kit/eventually.ts'
import { type ServiceProcess, startServiceProcess } from '../test/kit/process.ts'
import { client } from '../test/scenarios/client.ts'
import { percentile, spread } from './figures.ts'
import { slowStatements } from './new-mail.ts'
import { startProber } from './prober.ts'
import { onEachStore, type Place } from './stores.ts'
import { type SeededTables, seedTables } from './table-seed.ts'

const ROWS = Number(process.env.BENCH_ROWS ?? 100_000)
const REQUESTS = 30
const LIMIT_MS = 100
const MAX_COUNT = 10_000
/** Rows of a page of the portal, unless the table has another number. */
const PAGE = 25

interface Table {
  name: string
  path: string
  /** The member of the response with the rows, and their member with the id. */
  rows: string
  id?: string
  limit?: number
  /** The ids in order. Undefined: not known; newer ids come first. */
  expected?: readonly string[]
}

interface ListBody {
  pagination: { total: number; totalCapped?: boolean }
  [rows: string]: unknown
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
  const prober = await startProber(service.url, '/health/ready', service.key)
  try {
    await settled(service)
    say(`${title}, ${ROWS.toLocaleString('en')} rows in each table, ${REQUESTS} requests of each page`)
    let missed = 0
    for (const table of tablesOf(seeded)) {
      for (const [name, page] of await pagesOf(connection, service, table)) {
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
  } finally {
    prober.stop()
    await connection.close()
    await service.stop()
  }
}

/** Waits until the service owns all accounts, whose rows it updates for that. */
async function settled({ url, key }: ServiceProcess): Promise<void> {
  const api = client(url, key)
  await eventually(
    async () => {
      const { accounts } = await api.call<{ accounts: number }>('GET', '/debounced-queue/status')
      if (accounts < ROWS) throw new Error(`${accounts} accounts are owned.`)
    },
    300_000,
    1000,
  )
}

/** Their first, middle and last page. */
async function pagesOf(connection: Client, service: ServiceProcess, table: Table): Promise<[string, number][]> {
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
  const response = await connection.request({ method: 'GET', path, headers: { authorization: `Bearer ${key}` } })
  const text = await response.body.text()
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`)
  return JSON.parse(text)
}

function tablesOf(seeded: SeededTables): Table[] {
  const { accountId, otherId: other, accounts, deliveries, audit, outbox, bookings, jobs, backfills } = seeded
  const [endpointId = ''] = seeded.endpointIds
  const middle = Math.floor(ROWS / 2)
  const since = audit[middle]?.at ?? 0
  /** A table without a filter and with each of these, which select the rows for which the function is true. */
  const kind = <Row extends object>(
    { id = 'id', ...table }: Omit<Table, 'expected'>,
    rows: readonly Row[],
    filters: Record<string, (row: Row) => boolean>,
  ): Table[] =>
    Object.entries({ '': () => true, ...filters }).map(([filter, isShown]) => ({
      ...{ ...table, id, name: filter === '' ? table.name : `${table.name} ?${nameOf(filter)}` },
      path: filter === '' ? table.path : `${table.path}?${filter}`,
      expected: rows.filter(isShown).map((row) => String(row[id as keyof Row])),
    }))
  const matches =
    (part: string) =>
    ({ email }: { email: string }) =>
      email.includes(part)
  return [
    ...kind({ name: 'accounts', path: '/accounts', rows: 'accounts' }, accounts, {
      'q=USER7': matches('user7'),
      [`q=user${middle}%40`]: matches(`user${middle}@`),
      'q=nobody': () => false,
      'status=paused': () => true,
      'status=error': () => false,
      'provider=imap&q=bench': matches('bench'),
    }),
    ...kind({ name: 'queue', path: '/admin/queued-accounts', rows: 'accounts' }, accounts, { 'q=nobody': () => false }),
    ...kind({ name: 'deliveries', path: '/webhooks/deliveries', rows: 'deliveries' }, deliveries, {
      'status=failed': ({ status }) => status === 'failed',
      'status=success': ({ status }) => status === 'success',
      'status=retrying': () => false,
      'eventType=message.sent': ({ eventType }) => eventType === 'message.sent',
      [`endpointId=${endpointId}`]: (row) => row.endpointId === endpointId,
      [`accountId=${other}`]: (row) => row.accountId === other,
      [`endpointId=${endpointId}&status=failed`]: (row) => row.endpointId === endpointId && row.status === 'failed',
      [`accountId=${accountId}&status=failed`]: (row) => row.accountId === accountId && row.status === 'failed',
    }),
    ...kind({ name: 'audit', path: '/audit', rows: 'entries' }, audit, {
      'actor=key%3Arare': ({ actor }) => actor === 'key:rare',
      'action=account.updated': ({ action }) => action === 'account.updated',
      [`target=${other}`]: ({ target }) => target === other,
      [`since=${encodeURIComponent(new Date(since).toISOString())}`]: ({ at }) => at >= since,
    }),
    ...kind({ name: 'outbox', path: '/outbox', rows: 'messages' }, outbox, {
      'status=sent': ({ status }) => status === 'sent',
      'status=failed': ({ status }) => status === 'failed',
      [`accountId=${accountId}`]: (row) => row.accountId === accountId,
    }),
    ...kind({ name: 'bookings', path: '/scheduler/bookings', rows: 'bookings' }, bookings, {
      'status=cancelled': ({ status }) => status === 'cancelled',
      'status=pending': () => false,
      [`experienceSlug=${seeded.slug}`]: () => true,
      [`accountId=${other}`]: ({ hosts }) => hosts.includes(other),
      [`accountId=${other}&status=cancelled`]: (row) => row.hosts.includes(other) && row.status === 'cancelled',
      [`guestEmail=guest${middle}%40bench.example`]: (row) => row.guestEmail === `guest${middle}@bench.example`,
    }),
    ...kind({ name: 'jobs', path: '/scheduler-queue/jobs', rows: 'jobs' }, jobs, {
      'status=failed': ({ status }) => status === 'failed',
      'status=completed': ({ status }) => status === 'completed',
      'type=message': ({ type }) => type === 'message',
    }),
    ...kind({ name: 'backfills', path: '/historical-sync', rows: 'backfills', id: 'accountId' }, backfills, {
      'status=failed': ({ status }) => status === 'failed',
      'status=cancelled': ({ status }) => status === 'cancelled',
    }),
    ...kind(
      { name: 'drafts', path: `/accounts/${accountId}/drafts`, rows: 'drafts', id: 'messageId', limit: 20 },
      seeded.drafts,
      {},
    ),
    ...kind({ name: 'messages', path: `/accounts/${accountId}/messages`, rows: 'messages' }, seeded.messages, {}),
    { name: 'logs', path: '/logs', rows: 'logs', limit: 50 },
  ]
}

function nameOf(filter: string): string {
  return decodeURIComponent(filter).replaceAll(/[a-z]{3}_\w+/g, '…')
}
