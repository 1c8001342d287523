import { once } from 'node:events'
import { expect } from 'vitest'
import type { Features } from '../../src/app/features.ts'
import type { Config } from '../../src/config/index.ts'
import { sleep } from '../../src/platform/concurrency/abort.ts'
import type { Db } from '../../src/platform/db/index.ts'
import type { Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { random } from '../kit/random/random.ts'
import { compose } from '../kit/service/composition.ts'
import { startWorker } from '../kit/workers/start.ts'
import { CALENDAR_SCOPES, GOOGLE_SCOPES, startGoogle } from '../servers/google.ts'
import { MICROSOFT_SCOPES, OUTLOOK_CALENDAR_SCOPES, startMicrosoft } from '../servers/microsoft.ts'

export interface CalendarCrashes {
  kills: number
  /** Events that each calendar has at the beginning. */
  events: number
}

/** A calendar at a provider. The summary of an event is unique. */
interface CrashCalendar {
  link(db: Db, features: Features): Promise<unknown>
  put(id: string, summary: string, day: number, isSeries: boolean): void
  remove(id: string): void
  expireCursors(): void
}

const DAY_MS = 24 * 60 * 60 * 1000
const HOUR_MS = 60 * 60 * 1000
/** In each calendar for each kill: so many are created, and as many changed and deleted. */
const PER_KILL = 2
const FIRST_SYNC_MS = 400
const CHANGES_MS = 150

/**
 * Syncs a calendar of Google and one of Microsoft while the process is killed (SIGKILL) at random moments of the first sync and
 * of changes, and started again; cursors expire now and then. Requires that every change is announced exactly once, that nothing of
 * the first sync is, and that what is stored equals the calendars. Returns how many changes there were.
 */
export async function runCalendarCrashes(db: Db, place: Place, { kills, events }: CalendarCrashes): Promise<number> {
  const chance = random()
  const { calendars, settings, close: closeServers } = await startCalendars()
  const { features, close } = compose(db, { settings })
  let running: ReturnType<typeof startWorker> | undefined
  const start = async () => {
    const args = [place.dataDir, place.databaseUrl ?? '', JSON.stringify(settings)]
    const child = startWorker('calendar-sync-worker', args)
    running = child
    await once(child.stdout, 'data')
    return child
  }
  const end = async (child: Awaited<ReturnType<typeof start>>) => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const current = new Set<string>()
  const expected: string[] = []
  /** Changes in one calendar, each of an event that does not change again. */
  const change = async (name: string, calendar: CrashCalendar, round: number) => {
    for (let n = round * PER_KILL; n < (round + 1) * PER_KILL; n += 1) {
      calendar.put(`${name}new${n}`, `${name} new ${n}`, n % 200, n % 2 === 1)
      expected.push(`created ${name} new ${n}`)
      current.add(`${name} new ${n}`)
      await sleep(chance() * 20)
      calendar.put(`${name}old${2 * n}`, `${name} changed ${n}`, n % 300, (2 * n) % 3 === 0)
      expected.push(`updated ${name} changed ${n}`)
      current.add(`${name} changed ${n}`)
      current.delete(`${name} old ${2 * n}`)
      calendar.remove(`${name}old${2 * n + 1}`)
      expected.push(`deleted ${name} old ${2 * n + 1}`)
      current.delete(`${name} old ${2 * n + 1}`)
    }
    if (chance() < 0.3) calendar.expireCursors()
  }

  try {
    for (const [name, calendar] of Object.entries(calendars)) {
      for (let n = 0; n < Math.max(events, 2 * PER_KILL * kills); n += 1) {
        calendar.put(`${name}old${n}`, `${name} old ${n}`, n % 300, n % 3 === 0)
        current.add(`${name} old ${n}`)
      }
      await calendar.link(db, features)
    }
    for (let round = 0, attempts = 1; round < kills; attempts += 1) {
      const child = await start()
      const isSynced = (await syncedCalendars(db)) === Object.keys(calendars).length
      if (isSynced) {
        await Promise.all(Object.entries(calendars).map(([name, calendar]) => change(name, calendar, round)))
        round += 1
      }
      // A listing that began anew each time would never end.
      await sleep(chance() * (isSynced ? CHANGES_MS : FIRST_SYNC_MS * attempts))
      await end(child)
    }
    const child = await start()
    await eventually(async () => expect(await announced(db)).toEqual(expected.toSorted()))
    await eventually(async () => expect(await stored(db)).toEqual([...current].sort()))
    await eventually(async () => expect(await failing(db)).toEqual(['a-refused', 'a-refused']))
    await end(child)
    expect(await announced(db)).toEqual(expected.toSorted())
    return expected.length
  } finally {
    running?.kill('SIGKILL')
    await close()
    await closeServers()
  }
}

async function startCalendars() {
  const [google, graph] = await Promise.all([startGoogle(), startMicrosoft()])
  const [gmailUser, outlookUser] = ['ann@gmail.test', 'ada@example.test']
  google.addUser(gmailUser)
  graph.addUser(outlookUser)
  // Each account has a calendar that is refused for ever, which costs nothing but itself.
  google.calendars.add(gmailUser, { id: 'a-refused', accessRole: 'reader' })
  google.calendars.refuse(gmailUser, 'a-refused', { as: 'server-error' })
  graph.calendars.add(outlookUser, { id: 'a-refused', canEdit: false })
  graph.calendars.refuse(outlookUser, 'a-refused', { as: 'missing-scope' })
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const localAt = (day: number, hour: number) =>
    new Date(today + day * DAY_MS + hour * HOUR_MS).toISOString().slice(0, 19)
  const times = (day: number) => ({
    start: { dateTime: localAt(day, 9), timeZone: 'UTC' },
    end: { dateTime: localAt(day, 10), timeZone: 'UTC' },
  })
  const linked = (provider: 'gmail' | 'microsoft', email: string, grant: () => Promise<Tokens>, scopes: string[]) =>
    async function link(db: Db, { accounts }: Features) {
      const tokens = { ...(await grant()), expiresAt: Date.now() + HOUR_MS, scopes }
      const person = { provider, email, customUserId: null, providerUser: email, settings: {}, secrets: {}, tokens }
      return db.transaction((tx) => accounts.link(tx, person))
    }
  const googleScopes = [...GOOGLE_SCOPES, ...CALENDAR_SCOPES]
  const graphScopes = [...MICROSOFT_SCOPES, ...OUTLOOK_CALENDAR_SCOPES]
  const calendars: Record<string, CrashCalendar> = {
    gmail: {
      link: linked('gmail', gmailUser, () => google.grant(gmailUser, googleScopes), googleScopes),
      put(id, summary, day, isSeries) {
        const recurrence = isSeries && { recurrence: ['RRULE:FREQ=DAILY;COUNT=5'] }
        google.calendars.put(gmailUser, gmailUser, { id, summary, ...times(day), ...recurrence })
      },
      remove: (id) => google.calendars.cancel(gmailUser, gmailUser, id),
      expireCursors: () => google.calendars.expireSyncTokens(gmailUser),
    },
    outlook: {
      link: linked('microsoft', outlookUser, () => graph.grant(outlookUser, graphScopes), graphScopes),
      put(id, subject, day, isSeries) {
        const range = { type: 'numbered' as const, numberOfOccurrences: 5, startDate: localAt(day, 0).slice(0, 10) }
        const recurrence = { pattern: { type: 'daily' as const, interval: 1 }, range }
        const zone = { originalStartTimeZone: 'UTC', originalEndTimeZone: 'UTC' }
        graph.calendars.put(outlookUser, 'calendar', {
          id,
          subject,
          ...times(day),
          ...zone,
          ...(isSeries && { recurrence }),
        })
      },
      remove: (id) => graph.calendars.delete(outlookUser, id),
      expireCursors: () => graph.calendars.expireDelta(outlookUser),
    },
  }
  const settings: Partial<Config> = {
    googleClientId: google.client.id,
    googleClientSecret: google.client.secret,
    googleApiUrl: google.url,
    googlePeopleUrl: google.url,
    microsoftGraphUrl: graph.url,
    microsoftClientId: graph.client.id,
    microsoftClientSecret: graph.client.secret,
  }
  return { calendars, settings, close: () => Promise.all([google.close(), graph.close()]) }
}

interface Tokens {
  accessToken: string
  refreshToken: string
}

async function syncedCalendars(db: Db): Promise<number> {
  const rows = await db.read.selectFrom('calendars').select('syncedAt').execute()
  return rows.filter(({ syncedAt }) => syncedAt !== null).length
}

async function failing(db: Db): Promise<string[]> {
  const rows = await db.read.selectFrom('calendars').select('providerId').where('failures', '>', 0).execute()
  return rows.map(({ providerId }) => providerId)
}

async function announced(db: Db): Promise<string[]> {
  const rows = await db.read.selectFrom('events').select(['type', 'data']).where('type', 'like', 'calendar.%').execute()
  return rows.map(({ type, data }) => `${type.split('.')[2]} ${JSON.parse(data).summary}`).sort()
}

async function stored(db: Db): Promise<string[]> {
  const rows = await db.read.selectFrom('calendarEvents').select(['content', 'status']).execute()
  const active = rows.filter(({ status }) => status !== 'cancelled')
  return active.map(({ content }): string => JSON.parse(content).summary).sort()
}
