import { Client } from 'undici'
import { migrations } from '../src/migrations/index.ts'
import { migrateUp } from '../src/platform/db/index.ts'
import type { TimeRange } from '../src/providers/contract/index.ts'
import { imapUser, testAccounts } from '../test/kit/accounts/accounts.ts'
import { storeBusy, storeCalendar } from '../test/kit/calendars/stored-calendar.ts'
import { openDatabase } from '../test/kit/database/open-database.ts'
import { administer } from '../test/kit/database/postgres-server.ts'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { percentile, spread } from './figures.ts'
import { slowStatements } from './new-mail.ts'
import { type Prober, startProber } from './prober.ts'
import { onEachStore, type Place } from './stores.ts'

const HOSTS = Number(process.env.BENCH_ROWS ?? 50)
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 60)
const DAYS = 60
const LIMITS = { oneMs: 50, manyMs: 1000, liveMs: 50 }
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const LENGTH_MS = 30 * MINUTE_MS
const OPEN = { start: '09:00', end: '17:00', fromMs: 9 * 60 * MINUTE_MS, toMs: 17 * 60 * MINUTE_MS }
const BUFFER_MS = 10 * MINUTE_MS
const YEAR_DAYS = 395

interface Host {
  id: string
  busy: TimeRange[]
}

/** Slots of one host and of many for 60 days over HTTP, each list compared with the expected one, beside `/health/live`. */
export async function slots(say: (line: string) => void): Promise<void> {
  await onEachStore(say, (title, place) => measure(title, place, say))
}

async function measure(title: string, place: Place, say: (line: string) => void): Promise<void> {
  const hosts = await seedHosts(place)
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info' } })
  let prober: Prober | undefined
  try {
    const ids = hosts.map(({ id }) => id)
    await createExperience(service, 'one', ids.slice(0, 1), 'collective')
    await createExperience(service, 'many', ids, 'round_robin')
    await createExperience(service, 'all', ids, 'collective')
    prober = await startProber(service.url, '/health/live', service.key)
    await prober.take()
    const single = await request(service, 'one', hosts.slice(0, 1), 'every')
    const many = await request(service, 'many', hosts, 'some')
    const all = await request(service, 'all', hosts, 'every')
    const { live } = await prober.take()
    say(`${title}, ${DAYS} days, ${events(hosts)} events per host in 13 months`)
    say(`  one host                   ${spread(single)} (limit of p95: ${LIMITS.oneMs})`)
    say(`  ${`${HOSTS} hosts, round robin`.padEnd(25)}  ${spread(many)} (limit of p95: ${LIMITS.manyMs})`)
    say(`  ${`${HOSTS} hosts, collective`.padEnd(25)}  ${spread(all)} (limit of p95: ${LIMITS.manyMs})`)
    say(`  /health/live meanwhile     p99 ${percentile(live, 0.99).toFixed(1)} ms (limit ${LIMITS.liveMs})`)
    say(`  slow statements (over 20 ms) ${slowStatements(service.output())}`)
  } finally {
    prober?.stop()
    await service.stop()
  }
}

async function seedHosts(place: Place): Promise<Host[]> {
  const db = openDatabase(place)
  await migrateUp(db, migrations, () => {})
  const { accounts, link } = testAccounts(db)
  const nowMs = Date.now()
  const hosts: Host[] = []
  for (let index = 0; index < HOSTS; index += 1) {
    const { id } = await link(imapUser(`host${index}`))
    await db.transaction((tx) => accounts.change(tx, id, { paused: true }))
    const busy = buildBusy(index, nowMs)
    await storeBusy(db, await storeCalendar(db, id, nowMs), busy)
    hosts.push({ id, busy })
  }
  // Autovacuum does this in operation; the test server has none.
  if (db.engine === 'postgres') await administer(place.databaseUrl ?? '', 'vacuum analyze')
  await db.close()
  return hosts
}

/** Six meetings on each day, of 25 to 55 minutes, and four absences a year, of a week. */
function buildBusy(host: number, nowMs: number): TimeRange[] {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS
  const busy: TimeRange[] = []
  for (let day = -30; day < YEAR_DAYS - 30; day += 1) {
    const dayMs = today + day * DAY_MS
    for (let meeting = 0; meeting < 6; meeting += 1) {
      const from =
        dayMs + OPEN.fromMs + (meeting * 80 + ((host * 7 + day * 3 + meeting * 11 + 330) % 9) * 5) * MINUTE_MS
      busy.push({ from, to: from + (25 + ((host + meeting + day + 300) % 3) * 15) * MINUTE_MS })
    }
    if ((day + host * 3 + 300) % 90 === 0) busy.push({ from: dayMs, to: dayMs + 7 * DAY_MS })
  }
  return busy
}

async function createExperience(service: ServiceProcess, slug: string, hosts: string[], assignment: string) {
  await client(service.url, service.key).call('POST', '/scheduler/experiences', {
    slug,
    name: slug,
    timezone: 'UTC',
    defaultAccountIds: hosts,
    availability: {
      openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: OPEN.start, end: OPEN.end }],
      bufferBeforeMinutes: BUFFER_MS / MINUTE_MS,
      durationMinutes: LENGTH_MS / MINUTE_MS,
      assignment,
    },
  })
}

/** Returns how long each request took, in ms. */
async function request(
  service: ServiceProcess,
  slug: string,
  hosts: readonly Host[],
  needs: 'every' | 'some',
): Promise<number[]> {
  const connection = new Client(service.url)
  const samples: number[] = []
  const from = Math.floor(Date.now() / DAY_MS + 1) * DAY_MS
  const range = { from, to: from + DAYS * DAY_MS }
  const expected = expectedStarts(range, hosts, needs)
  const body = JSON.stringify({
    range: { start: new Date(range.from).toISOString(), end: new Date(range.to).toISOString() },
    durationMinutes: LENGTH_MS / MINUTE_MS,
  })
  // The first ones warm up.
  for (let n = -5; n < REQUESTS; n += 1) {
    const startMs = performance.now()
    const response = await connection.request({
      method: 'POST',
      path: `/scheduler/experiences/${slug}/availability`,
      body,
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    })
    const text = await response.body.text()
    const tookMs = performance.now() - startMs
    if (response.statusCode !== 200) throw new Error(`${slug}: ${response.statusCode} ${text}`)
    const found: { slots: { start: string }[] } = JSON.parse(text)
    const starts = found.slots.map(({ start }) => Date.parse(start))
    if (JSON.stringify(starts) !== JSON.stringify(expected)) throw new Error(`The slots of "${slug}" are wrong.`)
    if (n >= 0) samples.push(tookMs)
  }
  await connection.close()
  return samples
}

function expectedStarts({ from, to }: TimeRange, hosts: readonly Host[], needs: 'every' | 'some'): number[] {
  const starts: number[] = []
  for (let day = from; day < to; day += DAY_MS) {
    for (let start = day + OPEN.fromMs; start + LENGTH_MS <= day + OPEN.toMs; start += LENGTH_MS) {
      const isHostFree = ({ busy }: Host) =>
        !busy.some((range) => range.from < start + LENGTH_MS && range.to > start - BUFFER_MS)
      if (needs === 'every' ? hosts.every(isHostFree) : hosts.some(isHostFree)) starts.push(start)
    }
  }
  return starts
}

function events(hosts: readonly Host[]): number {
  return Math.round(hosts.reduce((sum, { busy }) => sum + busy.length, 0) / hosts.length)
}
