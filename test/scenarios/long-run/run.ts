import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Prober, startProber } from '../../../bench/prober.ts'
import { openDatabase } from '../../kit/database/open-database.ts'
import { eventually } from '../../kit/eventually.ts'
import {
  HEAP_PROBE,
  type ServicePlace,
  type ServiceProcess,
  SHARED_KEYS,
  startServiceProcess,
} from '../../kit/service/process.ts'
import { startDovecot } from '../../servers/dovecot.ts'
import { type Radicale, startRadicale } from '../../servers/radicale.ts'
import { startSmtpSink } from '../../servers/smtp.ts'
import { type AnnouncementCounts, expectEachAnnouncedOnce } from '../announcements.ts'
import { startApplication } from '../application.ts'
import { type Client, client } from '../client.ts'
import { connectMailboxes, PASSWORD, startMail, subscribe, userNames } from '../mailboxes.ts'
import { openOwnershipJournal } from '../ownership-journal.ts'
import { expectBookings, expectEdits, expectSends, type SendCounts } from './checks.ts'
import { buildSlug, type Load, prepareEdits, startBookings, startEdits, startSends } from './loads.ts'
import { describeLife, type ProcessLife, watchLives } from './process-lives.ts'

export interface LongRunScenario {
  lengthMs: number
  accounts: number
  /** So many accounts have a calendar that guests book, and so many others one that another program edits. */
  hosts: number
  edited: number
  /** Between two messages, requests to send, bookings, and edits. */
  mailPaceMs: number
  sendPaceMs: number
  bookingPaceMs: number
  editPaceMs: number
  /** One of the two instances is killed this often. */
  killEveryMs: number
  /** Called with a line for each minute and each incident. */
  say(line: string): void
}

export interface LongRunCounts {
  announced: AnnouncementCounts
  sends: SendCounts
  bookings: number
  edits: number
  kills: number
  longestTakeOverMs: number
  longestExitMs: number
  /** Each response of `/health/live` of the instance that is not killed. */
  liveMs: number[]
  lives: readonly ProcessLife[]
}

const MANY_MS = 300_000
const SAMPLE_MS = 15_000
/** Each probe costs CPU time that the run shall not take. */
const PROBES = { liveMs: 100, listMs: 2_000 }
const MINUTE_MS = 60_000

/**
 * Two instances on PostgreSQL and Redis receive mail, send, take bookings and sync calendars. Both are restarted once, one after the other; then one
 * of them is killed again and again. Requires that every message and every edit of a calendar is announced once, that every accepted message is sent once
 * or ends uncertain, that every booking is one event and one message, and that no account is synced by two instances under one epoch.
 */
export async function runLong(
  place: ServicePlace & { databaseUrl: string },
  scenario: LongRunScenario,
): Promise<LongRunCounts> {
  const { say } = scenario
  const [dovecot, radicale, smtp, application, calendarApplication] = await Promise.all([
    startDovecot(),
    startRadicale(),
    startSmtpSink(),
    startApplication(),
    startApplication(),
  ])
  const watch = watchLives(SAMPLE_MS)
  const start = async (name: string, port?: number) => {
    const service = await startServiceProcess({
      ...place,
      env: { ...SHARED_KEYS, ...HEAP_PROBE, ...place.env },
      databaseUrl: namedUrl(place.databaseUrl, name),
      ...(port !== undefined && { port }),
    })
    return { name, service, endLife: watch.watch(name, service.pid) }
  }
  const [kept, killed] = [await start('kept'), await start('killed')]
  const instances: [ServiceProcess, ServiceProcess] = [kept.service, killed.service]
  const db = openDatabase(place)
  const journal = await openOwnershipJournal(place.databaseUrl)
  const loads: Load[] = []
  let mail: ReturnType<typeof startMail> | undefined
  let prober: Prober | undefined
  let progress: NodeJS.Timeout | undefined
  const liveMs: number[] = []
  try {
    const users = userNames(scenario.accounts)
    const hosts = users.slice(0, scenario.hosts)
    const edited = users.slice(scenario.hosts, scenario.hosts + scenario.edited)
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    const calendars = await makeCalendars(radicale, [...hosts, ...edited])
    const editedCalendars = new Map(edited.map((user) => [user, calendars.get(user) ?? '']))
    const editCount = Math.ceil(scenario.lengthMs / scenario.editPaceMs) + 10
    const edits = await prepareEdits(radicale, editedCalendars, editCount)

    const api = client(kept.service.url, kept.service.key)
    await subscribe(api, application, ['message.received'])
    await subscribe(api, calendarApplication, [
      'calendar.event.created',
      'calendar.event.updated',
      'calendar.event.deleted',
    ])
    const withCalendar = (user: string) => (calendars.has(user) ? { caldavUrl: radicale.url } : {})
    const accounts = await connectMailboxes(api, dovecot, users, smtp, withCalendar)
    for (const [index, user] of hosts.entries()) await createExperience(api, buildSlug(index), accounts.get(user) ?? '')
    await eventually(async () => {
      const rows = await db.read.selectFrom('calendars').select('syncedAt').execute()
      expect(rows.filter(({ syncedAt }) => syncedAt !== null)).toHaveLength(calendars.size)
      await journal.expectShares(2, users.length)
    }, MANY_MS)
    say(`${users.length} accounts are connected, ${calendars.size} of them with a calendar`)

    mail = startMail(dovecot, users, scenario.mailPaceMs)
    const [arriving, accountIds] = [mail, [...accounts.values()]]
    const sends = startSends(instances, accountIds, scenario.sendPaceMs)
    const bookings = startBookings(instances, hosts.length, scenario.bookingPaceMs)
    const editing = startEdits(radicale, edits, scenario.editPaceMs)
    loads.push(sends, bookings, editing)

    const startedMs = performance.now()
    const minutes = () => `${((performance.now() - startedMs) / MINUTE_MS).toFixed(1)} min`
    const until = (ms: number) => sleep(Math.max(0, startedMs + ms - performance.now()))
    progress = setInterval(() => {
      const counts = `${arriving.subjects.length} messages, ${application.received.size} announced, ${sends.count} sends, ${bookings.count} bookings, ${editing.count} edits`
      say(`${minutes()}: ${counts}; ${watch.running().map(describeLife).join('; ')}`)
    }, MINUTE_MS)
    const times = { longestTakeOverMs: 0, longestExitMs: 0 }

    await until(scenario.killEveryMs / 2)
    for (const [index, instance] of [kept, killed].entries()) {
      const signalledMs = performance.now()
      expect(await instance.service.stop()).toBe(0)
      times.longestExitMs = Math.max(times.longestExitMs, performance.now() - signalledMs)
      instance.endLife()
      Object.assign(instance, await start(instance.name, instance.service.port))
      instances[index] = instance.service
      await eventually(() => journal.expectShares(2, users.length), MANY_MS)
    }
    say(`${minutes()}: both instances were restarted, one after the other`)
    const { url, key } = kept.service
    const watching = await startProber(url, '/accounts?limit=50', key, PROBES)
    prober = watching
    // Its first responses are slow, while V8 compiles.
    await watching.take()

    let kills = 0
    for (
      let atMs = scenario.killEveryMs;
      atMs <= scenario.lengthMs - scenario.killEveryMs / 2;
      atMs += scenario.killEveryMs
    ) {
      await until(atMs)
      await killed.service.kill()
      kills += 1
      killed.endLife()
      const killedMs = performance.now()
      await eventually(() => journal.expectShares(1, users.length), MANY_MS)
      const takeOverMs = performance.now() - killedMs
      times.longestTakeOverMs = Math.max(times.longestTakeOverMs, takeOverMs)
      Object.assign(killed, await start(killed.name, killed.service.port))
      instances[1] = killed.service
      await eventually(() => journal.expectShares(2, users.length), MANY_MS)
      liveMs.push(...(await watching.take()).live)
      const heap = `${((await kept.service.heapBytesAfterGc()) / 1024 / 1024).toFixed(1)} MB in the heap of the other`
      say(`${minutes()}: kill ${kills}, all accounts owned after ${Math.round(takeOverMs)} ms; later ${heap}`)
    }
    await until(scenario.lengthMs)
    liveMs.push(...(await watching.take()).live)

    await Promise.all([arriving.stop(), ...loads.map((load) => load.stop())])
    const announced = await expectEachAnnouncedOnce(application, arriving.subjects, MANY_MS)
    const sendCounts = await expectSends(db, smtp, sends.count)
    const hostCalendars = new Map(hosts.map((user) => [user, calendars.get(user) ?? '']))
    await expectBookings(db, smtp, { radicale, calendars: hostCalendars }, bookings.count)
    await expectEdits(calendarApplication, edits.slice(0, editing.count))
    await journal.expectOneWriterPerEpoch()
    return {
      announced,
      sends: sendCounts,
      bookings: bookings.count,
      edits: editing.count,
      kills,
      ...times,
      liveMs,
      lives: watch.lives,
    }
  } finally {
    clearInterval(progress)
    watch.stop()
    prober?.stop()
    await Promise.allSettled([mail?.stop(), ...loads.map((load) => load.stop())])
    await Promise.all([kept, killed].map(({ service }) => service.stop()))
    await db.close()
    await journal.close()
    await Promise.all([dovecot.stop(), radicale.stop(), smtp.close(), application.close(), calendarApplication.close()])
  }
}

/** One for each user. Returns their paths. */
async function makeCalendars(radicale: Radicale, users: readonly string[]): Promise<Map<string, string>> {
  const calendars = new Map<string, string>()
  for (const user of users) {
    await radicale.addUser(user, PASSWORD)
    calendars.set(user, await radicale.makeCalendar(user, 'work'))
  }
  return calendars
}

async function createExperience(api: Client, slug: string, accountId: string): Promise<void> {
  await api.call('POST', '/scheduler/experiences', {
    slug,
    name: 'Call',
    timezone: 'UTC',
    defaultAccountIds: [accountId],
    availability: {
      openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }],
      durationMinutes: 5,
      intervalMinutes: 5,
      reminders: [],
      maximumDaysAhead: 365,
    },
  })
}

/** The name of the instance, on each of its connections. */
function namedUrl(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', name)
  return url.href
}
