import { setTimeout as sleep } from 'node:timers/promises'
import { DAVClient } from 'tsdav'
import { Client } from 'undici'
import { openDatabase } from '../test/kit/database/open-database.ts'
import { administer } from '../test/kit/database/postgres-server.ts'
import { eventually } from '../test/kit/eventually.ts'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { PASSWORD } from '../test/scenarios/mailboxes.ts'
import { type Dovecot, startDovecot } from '../test/servers/dovecot.ts'
import { type Radicale, startRadicale } from '../test/servers/radicale.ts'
import { benchEvents, buildObjects, type Listed, listedIn, type Month, monthsFrom } from './calendar-events.ts'
import { cpuMs, median, percentile } from './figures.ts'
import { slowStatements } from './new-mail.ts'
import { onEachStore, type Place } from './stores.ts'

const EVENTS = Number(process.env.BENCH_ROWS ?? 10_000)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 240)
const LIMIT = 50
const MAX_P95_MS = 20
const MAX_RATIO = 1.5
const USER = 'bench@mail.example'
const YEAR_MS = 366 * 24 * 60 * 60 * 1000

/** Each is sent for every month in turn; those with a limit are what the figures are judged by. */
interface List {
  name: string
  params(month: Month, year: Month['params']): Record<string, string>
  isLimited?: boolean
  /** Read from the provider: only some rounds. */
  isLive?: boolean
}

const LISTS: readonly List[] = [
  { name: 'instances of a month', params: (month) => ({ ...month.params, singleEvents: 'true' }), isLimited: true },
  { name: 'events of a month', params: (month) => month.params, isLimited: true },
  { name: 'events of a year', params: (_, year) => year },
  {
    name: 'instances of it, by last change',
    params: (_, year) => ({ ...year, singleEvents: 'true', orderBy: 'updated' }),
  },
  { name: 'words in the events of a month', params: (month) => ({ ...month.params, q: 'figures 77' }) },
  { name: 'all events', params: () => ({}), isLive: true },
]
/** Live lists are read in every fortieth round: each takes a second. */
const LIVE_EVERY = 40

interface Round {
  bareMs: number
  syncMs: number
  /** Of the service, without the database. */
  cpuMs: number
  /** By name: of each request in ms. */
  lists: Map<string, number[]>
  slow: number
}

/**
 * The first sync of a calendar from a real Radicale, beside bare tsdav fetching the same objects, and lists of a month over HTTP, of
 * which every page is compared with the expected events.
 */
export async function calendar(say: (line: string) => void): Promise<void> {
  const [mailServer, radicale] = await Promise.all([startDovecot(), startRadicale()])
  const rounds = new Map<string, Round[]>()
  try {
    await mailServer.addUser(USER, PASSWORD)
    await radicale.addUser(USER, PASSWORD)
    const events = benchEvents(EVENTS, Date.now())
    const path = `/${encodeURIComponent(USER)}/work/`
    await radicale.request(USER, 'PUT', path, buildObjects(events), { 'content-type': 'text/calendar' })
    // Radicale parses every object once.
    await bareFetch(radicale)
    for (let round = 0; round < ROUNDS; round += 1) {
      await onEachStore(say, async (title, place) => {
        const bareMs = await bareFetch(radicale)
        const ofStore = rounds.get(title) ?? []
        rounds.set(title, [...ofStore, { bareMs, ...(await measure(place, mailServer, radicale, listedIn(events))) }])
      })
    }
  } finally {
    await mailServer.stop()
    await radicale.stop()
  }
  for (const [title, ofStore] of rounds) report(title, ofStore, say)
}

function report(title: string, rounds: readonly Round[], say: (line: string) => void): void {
  const seconds = (of: (round: Round) => number) => (median(rounds.map(of)) / 1000).toFixed(2).padStart(6)
  const ratio = median(rounds.map(({ syncMs, bareMs }) => syncMs / bareMs))
  say(`${title}, ${EVENTS.toLocaleString('en')} events, a fifth of them series; medians of ${rounds.length} rounds`)
  say(
    `  first sync ${seconds(({ syncMs }) => syncMs)} s, bare tsdav ${seconds(({ bareMs }) => bareMs)} s: ${ratio.toFixed(2)} × bare (limit ${MAX_RATIO}), CPU of the service ${seconds(({ cpuMs }) => cpuMs)} s`,
  )
  for (const { name, isLimited } of LISTS) {
    const of = (p: number) =>
      median(rounds.map(({ lists }) => percentile(lists.get(name) ?? [], p)))
        .toFixed(1)
        .padStart(6)
    say(
      `  ${name.padEnd(31)} p50 ${of(0.5)} · p95 ${of(0.95)} · max ${of(1)} ms${isLimited ? ` (limit of p95: ${MAX_P95_MS})` : ''}`,
    )
  }
  say(`  slow statements (over 20 ms)    ${median(rounds.map(({ slow }) => slow))}`)
}

/** Reads every object, as the first sync does. */
async function bareFetch(radicale: Radicale): Promise<number> {
  const startMs = performance.now()
  const dav = new DAVClient({
    serverUrl: radicale.url,
    credentials: { username: USER, password: PASSWORD },
    authMethod: 'Basic',
    defaultAccountType: 'caldav',
  })
  await dav.login()
  const [found] = await dav.fetchCalendars()
  if (found === undefined) throw new Error('tsdav found no calendar.')
  const nowMs = Date.now()
  const timeRange = {
    start: new Date(nowMs - YEAR_MS).toISOString(),
    end: new Date(nowMs + 3 * YEAR_MS).toISOString(),
  }
  const objects = await dav.fetchCalendarObjects({ calendar: found, timeRange })
  const tookMs = performance.now() - startMs
  const complete = objects.filter(({ data }) => String(data).includes('BEGIN:VEVENT'))
  if (complete.length !== EVENTS) throw new Error(`tsdav fetched ${complete.length} objects instead of ${EVENTS}.`)
  return tookMs
}

async function measure(
  place: Place,
  mailServer: Dovecot,
  radicale: Radicale,
  expected: readonly Listed[],
): Promise<Omit<Round, 'bareMs'>> {
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info' } })
  const db = openDatabase(place)
  try {
    await warmedUp(service.pid)
    const [startMs, startCpuMs] = [performance.now(), await cpuMs(service.pid)]
    const account = await client(service.url, service.key).call<{ id: string }>('POST', '/accounts', {
      provider: 'imap',
      email: USER,
      username: USER,
      password: PASSWORD,
      caldavUrl: radicale.url,
      host: mailServer.host,
      port: mailServer.imapsPort,
      secure: true,
      allowSelfSigned: true,
    })
    await eventually(
      async () => {
        const rows = await db.read.selectFrom('calendars').select('syncedAt').execute()
        if (rows.length === 0 || rows.some(({ syncedAt }) => syncedAt === null)) throw new Error('not synced yet')
      },
      600_000,
      20,
    )
    const [syncMs, usedCpuMs] = [performance.now() - startMs, (await cpuMs(service.pid)) - startCpuMs]
    // Autovacuum does this in operation; the test server has none.
    if (place.databaseUrl !== undefined) await administer(place.databaseUrl, 'vacuum analyze')
    const slowBefore = slowStatements(service.output())
    const lists = await readLists(service, `/accounts/${account.id}/calendars/primary/events`, expected)
    return { syncMs, cpuMs: usedCpuMs, lists, slow: slowStatements(service.output()) - slowBefore }
  } finally {
    await db.close()
    await service.stop()
  }
}

/** A service prepares for its first requests after its start; this bench measures a calendar of one that runs. */
async function warmedUp(pid: number): Promise<void> {
  for (let before = -1, now = await cpuMs(pid); now - before > MAX_IDLE_MS; ) {
    await sleep(IDLE_EVERY_MS)
    before = now
    now = await cpuMs(pid)
  }
}

const IDLE_EVERY_MS = 500
const MAX_IDLE_MS = 30

async function readLists(
  service: ServiceProcess,
  path: string,
  expected: readonly Listed[],
): Promise<Map<string, number[]>> {
  const connection = new Client(service.url)
  const months = monthsFrom(Date.now())
  await checkMonths(connection, service.key, path, months, expected)
  const samples = new Map<string, number[]>()
  const [first, last] = [months[0], months.at(-1)]
  if (first === undefined || last === undefined) throw new Error('There are no months.')
  const year = { timeMin: first.params.timeMin, timeMax: last.params.timeMax }
  for (let n = 0; n < REQUESTS; n += 1) {
    const month = months[n % months.length] ?? first
    for (const { name, params, isLive = false } of LISTS) {
      if (isLive && n % LIVE_EVERY !== 0) continue
      const query = `${path}?${new URLSearchParams({ ...params(month, year), limit: String(LIMIT) })}`
      let cursor = ''
      for (let page = 0; page < (n % 4 === 0 ? 3 : 1); page += 1) {
        const { body, tookMs } = await get(connection, service.key, query + cursor)
        samples.set(name, [...(samples.get(name) ?? []), tookMs])
        if (body.pagination.nextCursor === undefined) break
        cursor = `&cursor=${body.pagination.nextCursor}`
      }
    }
  }
  await connection.close()
  return samples
}

/** Pages through every month once, which also warms the caches a little. */
async function checkMonths(
  connection: Client,
  key: string,
  path: string,
  months: readonly Month[],
  all: readonly Listed[],
): Promise<void> {
  for (const { params, fromMs, toMs } of months) {
    const expected = all.filter(({ startMs, endMs }) => startMs < toMs && endMs > fromMs)
    const found: string[] = []
    for (let cursor = ''; ; ) {
      const query = new URLSearchParams({ ...params, singleEvents: 'true', limit: '200' })
      const { body } = await get(connection, key, `${path}?${query}${cursor}`)
      found.push(...body.events.map(({ summary, start }) => `${start.dateTime} ${summary}`))
      const { nextCursor, total } = body.pagination
      if (body.source !== 'stored') throw new Error(`A month from ${params.timeMin} on is not stored.`)
      if (total !== Math.min(expected.length, 10_000)) throw new Error(`The total is ${total}, not ${expected.length}.`)
      if (nextCursor === undefined) break
      cursor = `&cursor=${nextCursor}`
    }
    const wanted = expected.map(({ startMs, summary }) => `${new Date(startMs).toISOString()} ${summary}`)
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      throw new Error(`The month from ${params.timeMin} on is wrong.`)
  }
}

interface ListBody {
  events: { summary: string; start: { dateTime: string } }[]
  pagination: { total: number; nextCursor?: string }
  source: string
}

async function get(connection: Client, key: string, path: string): Promise<{ body: ListBody; tookMs: number }> {
  const startMs = performance.now()
  const response = await connection.request({ method: 'GET', path, headers: { authorization: `Bearer ${key}` } })
  const text = await response.body.text()
  const tookMs = performance.now() - startMs
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`)
  return { body: JSON.parse(text), tookMs }
}
