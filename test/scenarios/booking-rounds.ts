import { once } from 'node:events'
import { expect } from 'vitest'
import type { Config } from '../../src/config/index.ts'
import { sleep } from '../../src/platform/concurrency/abort.ts'
import type { Db } from '../../src/platform/db/index.ts'
import type { Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { random } from '../kit/random/random.ts'
import { compose } from '../kit/service/composition.ts'
import { startWorker } from '../kit/workers/start.ts'
import { CALENDAR_SCOPES, GOOGLE_SCOPES, startGoogle } from '../servers/google.ts'
import { startReceiver } from '../servers/receiver.ts'

export interface BookingRounds {
  rounds: number
  /** Requests at the same time. */
  parallel: number
  /** Processes that serve them; more than one needs PostgreSQL. */
  replicas: number
  /** In so many of the rounds a process is killed (SIGKILL) and started again. */
  kills: number
}

export interface RoundCounts {
  booked: number
  refused: number
}

interface Outcome {
  status: number
  id: string
  slug: string
  from: number
  to: number
}

const KEY = 'test-key'
const HOSTS = ['one', 'two', 'three'].map((name) => `${name}@gmail.test`)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const SLOT_MS = 30 * MINUTE_MS
/** Starts of a round: their slots overlap. */
const STARTS = 6
const ROUND_MS = 3 * HOUR_MS
const MAX_KILL_DELAY_MS = 150
/** The share of requests whose response nobody waits for, and how soon they are repeated at most. */
const LOST = 0.2
const MAX_LOST_MS = 300
/** How often one guest may have to try again. */
const MAX_TIMEOUTS = 5

/**
 * Books overlapping slots of three experiences that share their hosts, by many parallel requests, while processes are killed. A
 * request without a response is repeated with its key, and so are some that still run. Requires that every request ends with 201 or 409, that no two bookings of a
 * host overlap, that a refused slot is not free, that the application is asked with one id per booking, and that each booking has one
 * event in the calendar of each of its hosts, one message to each person, and its events once.
 */
export async function runBookingRounds(
  db: Db,
  place: Place,
  { rounds, parallel, replicas, kills }: BookingRounds,
): Promise<RoundCounts> {
  const chance = random()
  const [google, application] = await Promise.all([startGoogle(), startReceiver()])
  application.always(() => ({ status: 200, body: '{}', delayMs: Math.floor(chance() * 30) }))
  const settings: Partial<Config> = {
    googleClientId: google.client.id,
    googleClientSecret: google.client.secret,
    googleApiUrl: google.url,
    googlePeopleUrl: google.url,
  }
  const { features, close } = compose(db, { settings })
  const accountIds: string[] = []
  const scopes = [...GOOGLE_SCOPES, ...CALENDAR_SCOPES]
  for (const email of HOSTS) {
    google.addUser(email)
    const tokens = { ...(await google.grant(email, scopes)), expiresAt: Date.now() + DAY_MS, scopes }
    const person = { provider: 'gmail' as const, email, customUserId: null, providerUser: email }
    const linked = { ...person, settings: {}, secrets: {}, tokens }
    accountIds.push((await db.transaction((tx) => features.accounts.link(tx, linked))).id)
  }
  const hostsBySlug: Record<string, string[]> = {
    alone: accountIds.slice(0, 1),
    asked: accountIds.slice(0, 2),
    shared: accountIds,
  }

  const start = async () => {
    const args = [place.dataDir, place.databaseUrl ?? '', JSON.stringify(settings)]
    const child = startWorker('booking-worker', args)
    const [line] = await once(child.stdout, 'data')
    return { child, api: api(String(line).trim(), KEY) }
  }
  const workers: Awaited<ReturnType<typeof start>>[] = []
  const anyApi = (): Api | undefined => workers[Math.floor(chance() * workers.length)]?.api

  async function book(key: string, slug: string, from: number): Promise<Outcome> {
    const body = {
      slot: { start: new Date(from).toISOString(), end: new Date(from + SLOT_MS).toISOString() },
      guest: { email: `${key}@guest.test`, name: key },
    }
    const post = () =>
      anyApi()
        ?.post(`/scheduler/experiences/${slug}/bookings`, body, { 'idempotency-key': key })
        .catch(() => undefined)
    if (chance() < LOST) {
      void post()
      await sleep(chance() * MAX_LOST_MS)
    }
    for (let timeouts = 0; ; ) {
      const response = await post()
      const { status = 0, json } = response ?? {}
      if (status === 201) return { status, id: json.id, slug, from, to: from + SLOT_MS }
      if (status === 409 && json.error.code === 'slot_unavailable') {
        return { status, id: '', slug, from, to: from + SLOT_MS }
      }
      // On a busy machine, the calendar of a host may take longer than a guest waits.
      if (json?.error?.code === 'provider_unavailable') timeouts += 1
      expect(timeouts).toBeLessThanOrEqual(MAX_TIMEOUTS)
      // The process was killed, or the first request with this key still runs.
      expect([status, json?.error?.code]).toBeOneOf([
        [502, 'provider_unavailable'],
        [0, undefined],
        [409, 'idempotency_running'],
        [503, 'not_ready'],
      ])
      await sleep(20)
    }
  }

  async function killOne(): Promise<void> {
    await sleep(chance() * MAX_KILL_DELAY_MS)
    const [killed] = workers.splice(Math.floor(chance() * workers.length), 1)
    killed?.child.kill('SIGKILL')
    if (killed !== undefined) await once(killed.child, 'exit')
    workers.push(await start())
  }

  try {
    while (workers.length < replicas) workers.push(await start())
    for (const [slug, defaultAccountIds] of Object.entries(hostsBySlug)) {
      const availability = {
        openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }],
        durations: [30],
        intervalMinutes: 15,
        reminders: [],
        ...(slug === 'shared' && { assignment: 'round_robin' }),
      }
      const endpoint = slug === 'asked' ? { bookingEndpoint: { url: application.url } } : {}
      const created = await anyApi()?.post('/scheduler/experiences', {
        slug,
        name: slug,
        timezone: 'UTC',
        defaultAccountIds,
        availability,
        ...endpoint,
      })
      expect([created?.status, created?.text]).toEqual([201, expect.anything()])
    }
    // Otherwise every request would ask the provider when the hosts are busy.
    await eventually(async () => {
      const calendars = await db.read.selectFrom('calendars').select('syncedAt').execute()
      expect(calendars.filter(({ syncedAt }) => syncedAt !== null)).toHaveLength(HOSTS.length)
    })
    const outcomes: Outcome[] = []
    const firstMs = Math.ceil(Date.now() / DAY_MS + 1) * DAY_MS
    for (let round = 0; round < rounds; round += 1) {
      const roundMs = firstMs + round * ROUND_MS
      const running = Array.from({ length: parallel }, (_, index) => {
        const slug = Object.keys(hostsBySlug)[Math.floor(chance() * 3)] ?? ''
        const from = roundMs + Math.floor(chance() * STARTS) * 15 * MINUTE_MS
        return book(`${round}-${index}`, slug, from)
      })
      if (kills > 0 && round % Math.ceil(rounds / kills) === 0) await killOne()
      outcomes.push(...(await Promise.all(running)))
    }
    const booked = outcomes.filter(({ status }) => status === 201)
    await expectNoOverlap(db)
    await expectEverythingOnce(booked)
    const taken = await takenTimes(db)
    for (const { slug, from, to } of outcomes.filter(({ status }) => status === 409)) {
      const isBusy = (host: string) => (taken.get(host) ?? []).some((booking) => booking.from < to && from < booking.to)
      const hosts = hostsBySlug[slug] ?? []
      expect(slug === 'shared' ? hosts.every(isBusy) : hosts.some(isBusy)).toBe(true)
    }
    return { booked: booked.length, refused: outcomes.length - booked.length }
  } finally {
    for (const { child } of workers) child.kill('SIGKILL')
    await Promise.all(
      workers.map(({ child }) =>
        child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined,
      ),
    )
    await close()
    await Promise.all([google.close(), application.close()])
  }

  async function expectEverythingOnce(booked: readonly Outcome[]): Promise<void> {
    expect(new Set(booked.map(({ id }) => id)).size).toBe(booked.length)
    const open = async () => {
      const rows = await db.read.selectFrom('bookingTasks').select('id').where('dueAt', 'is not', null).execute()
      return rows.length
    }
    // Those of hundreds of rounds take minutes.
    for (let left = await open(); left > 0; ) {
      await eventually(async () => expect(await open()).toBeLessThan(left))
      left = await open()
    }
    const rows = await db.read.selectFrom('bookings').selectAll().orderBy('id').execute()
    expect(rows.map(({ id }) => id)).toEqual(booked.map(({ id }) => id).sort())
    expect(new Set(rows.map((row) => `${row.status} ${row.calendarState}`))).toEqual(new Set(['confirmed written']))

    // One event in each calendar.
    const expected = new Map(HOSTS.map((email) => [email, [] as string[]]))
    let people = 0
    for (const { hosts, startMs, given } of rows) {
      const ids: string[] = JSON.parse(hosts)
      people += 1 + ids.length
      for (const id of ids) {
        const email = HOSTS[accountIds.indexOf(id)] ?? ''
        expected.get(email)?.push(`${new Date(startMs).toISOString()} ${JSON.parse(given).guest.name}`)
      }
    }
    for (const email of HOSTS) {
      const events = google.calendars.events(email, email).filter(({ status }) => status !== 'cancelled')
      const shown = events.map(({ start, summary }) => {
        const at = new Date(`${String(start.dateTime).slice(0, 19)}Z`).toISOString()
        return `${at} ${String(summary).split(': ')[1]}`
      })
      expect(shown.sort()).toEqual(expected.get(email)?.sort())
    }

    // One message to each person, and the application knows each booking by one id.
    const messages = await db.read.selectFrom('outbox').select(['subject', 'envelope']).execute()
    expect(messages).toHaveLength(people)
    const asked = new Set(application.requests.map(({ body }) => JSON.parse(body).request.bookingId))
    expect([...asked].sort()).toEqual(
      rows.filter(({ experienceSlug }) => experienceSlug === 'asked').map(({ id }) => id),
    )
    for (const type of ['booking.created', 'booking.confirmed']) {
      const events = await db.read.selectFrom('events').select('objectId').where('type', '=', type).execute()
      expect(events.map(({ objectId }) => objectId).sort()).toEqual(rows.map(({ id }) => id))
    }
  }
}

async function takenTimes(db: Db): Promise<Map<string, { from: number; to: number }[]>> {
  const taken = new Map<string, { from: number; to: number }[]>()
  const rows = await db.read.selectFrom('bookingBlocks').selectAll().orderBy('startMs').execute()
  for (const { hostId, startMs, endMs } of rows) {
    taken.set(hostId, [...(taken.get(hostId) ?? []), { from: startMs, to: endMs }])
  }
  return taken
}

async function expectNoOverlap(db: Db): Promise<void> {
  for (const times of (await takenTimes(db)).values()) {
    for (const [index, { from }] of times.entries()) expect(times[index - 1]?.to ?? 0).toBeLessThanOrEqual(from)
  }
}
