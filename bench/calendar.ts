import type { DAVClient } from 'tsdav'
import type { Radicale } from '../test/servers/radicale.ts'
import { benchEvents, buildObjects, type Listed, listedIn, type Month, monthsFrom } from './calendar-events.ts'
import { addSample, benchCollection, type Read, type Samples, USER } from './dav-collection.ts'

const EVENTS = Number(process.env.BENCH_ROWS ?? 10_000)
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 240)
const LIMIT = 50
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

/**
 * The first sync of a calendar from a real Radicale, beside bare tsdav fetching the same objects, and lists of a month over HTTP, of
 * which every page is compared with the expected events.
 */
export async function calendar(say: (line: string) => void): Promise<void> {
  const events = benchEvents(EVENTS, Date.now())
  const path = `/${encodeURIComponent(USER)}/work/`
  const collection = {
    title: `${EVENTS.toLocaleString('en')} events, a fifth of them series`,
    table: 'calendars',
    env: {},
    accountType: 'caldav',
    maxRatio: 1.5,
    lists: LISTS,
    fill: async (radicale: Radicale) => {
      await radicale.request(USER, 'PUT', path, buildObjects(events), { 'content-type': 'text/calendar' })
    },
    fetchAll,
    readLists: (read: Read, accountId: string) =>
      readLists(read, `/accounts/${accountId}/calendars/primary/events`, listedIn(events)),
  } as const
  await benchCollection(collection, say)
}

async function fetchAll(dav: DAVClient): Promise<void> {
  const [found] = await dav.fetchCalendars()
  if (found === undefined) throw new Error('tsdav found no calendar.')
  const nowMs = Date.now()
  const timeRange = {
    start: new Date(nowMs - YEAR_MS).toISOString(),
    end: new Date(nowMs + 3 * YEAR_MS).toISOString(),
  }
  const objects = await dav.fetchCalendarObjects({ calendar: found, timeRange })
  const complete = objects.filter(({ data }) => String(data).includes('BEGIN:VEVENT'))
  if (complete.length !== EVENTS) throw new Error(`tsdav fetched ${complete.length} objects instead of ${EVENTS}.`)
}

async function readLists(read: Read, path: string, expected: readonly Listed[]): Promise<Samples> {
  const months = monthsFrom(Date.now())
  await checkMonths(read, path, months, expected)
  const samples: Samples = new Map()
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
        const { body, tookMs } = await read<ListBody>(query + cursor)
        addSample(samples, name, tookMs)
        if (body.pagination.nextCursor === undefined) break
        cursor = `&cursor=${body.pagination.nextCursor}`
      }
    }
  }
  return samples
}

/** Pages through every month once, which also warms the caches a little. */
async function checkMonths(read: Read, path: string, months: readonly Month[], all: readonly Listed[]): Promise<void> {
  for (const { params, fromMs, toMs } of months) {
    const expected = all.filter(({ startMs, endMs }) => startMs < toMs && endMs > fromMs)
    const found: string[] = []
    for (let cursor = ''; ; ) {
      const query = new URLSearchParams({ ...params, singleEvents: 'true', limit: '200' })
      const { body } = await read<ListBody>(`${path}?${query}${cursor}`)
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
