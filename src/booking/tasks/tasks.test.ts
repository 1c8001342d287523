import PostalMime from 'postal-mime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readWithOthers } from '../../../test/kit/calendars/readers/ics-readers.ts'
import { databases } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { compose } from '../../../test/kit/service/composition.ts'
import { CALENDAR_SCOPES, GOOGLE_SCOPES, startGoogle } from '../../../test/servers/google.ts'
import type { Config } from '../../config/index.ts'
import { parseObject, property, readText } from '../../platform/calendar/components.ts'
import { findZone } from '../../platform/calendar/zone.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { BookingBody } from '../bookings/api.ts'

const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS
const [ADA, BO] = ['ada@gmail.test', 'bo@gmail.test'] as const
const GUEST = { email: 'lin@northwind.example', name: 'Lin <b>Duarte</b>', timezone: 'America/Sao_Paulo', locale: 'de' }
const OPTIONS = { requestId: 'req_test', isKeyed: true }
const open = databases('sqlite')

interface HostOptions {
  hosts?: string[]
  experience?: object
  /** Runs before the accounts are linked. */
  prepare?(google: Awaited<ReturnType<typeof startGoogle>>): void
}

/** An experience whose hosts have calendars at the fake Google, with what is done for bookings running. */
async function withHosts({ hosts = [ADA, BO], experience = {}, prepare }: HostOptions = {}) {
  const [db, google] = await Promise.all([open(), startGoogle()])
  for (const host of hosts) google.addUser(host)
  prepare?.(google)
  let aheadMs = 0
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
  const settings: Partial<Config> = {
    googleClientId: google.client.id,
    googleClientSecret: google.client.secret,
    googleApiUrl: google.url,
    googlePeopleUrl: google.url,
    publicUrl: 'https://booking.example',
  }
  const timing = { retry: { baseMs: 20, capMs: 40 }, sweepMs: 50 }
  const composed = compose(db, {
    clock,
    settings,
    features: {
      scheduler: timing,
      ownership: { roundMs: 50, deadAfterMs: 400, settleMs: 0 },
      calendars: { pollMs: 30 },
    },
  })
  const { features } = composed
  onTestFinished(async () => {
    await composed.close(1000)
    await google.close()
  })
  const ids: string[] = []
  const scopes = [...GOOGLE_SCOPES, ...CALENDAR_SCOPES]
  for (const email of hosts) {
    const tokens = { ...(await google.grant(email, scopes)), expiresAt: Date.now() + 40 * DAY_MS, scopes }
    const person = {
      provider: 'gmail' as const,
      email,
      customUserId: null,
      providerUser: email,
      settings: {},
      secrets: {},
    }
    ids.push((await db.transaction((tx) => features.accounts.link(tx, { ...person, tokens }))).id)
  }
  const create = await features.scheduler.experiences.create({
    slug: 'intro-call',
    name: 'Intro; call',
    timezone: 'Europe/Berlin',
    defaultAccountIds: ids,
    availability: { openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }], reminders: [] },
    bookingForm: { fields: [{ name: 'topic', label: 'Topic', type: 'textarea' }] },
    ...experience,
  })
  await db.transaction(create)
  await features.scheduler.tasks.start()
  await features.sender.start()
  const { bookings } = features.scheduler
  const startMs = Math.ceil(clock.now() / DAY_MS + 1) * DAY_MS + 9 * HOUR_MS
  const iso = (ms: number) => new Date(ms).toISOString()
  const book = async (more: Partial<BookingBody> = {}) =>
    (await bookings.create('intro-call', { slot: { start: iso(startMs) }, guest: GUEST, ...more }, OPTIONS)).row
  const shows = (id: string, expected: object) =>
    eventually(async () => {
      const row = await bookings.get(id)
      expect(row).toMatchObject(expected)
      return row
    })
  /** The living events of a host. */
  const events = (host: string) => google.calendars.events(host, host).filter(({ status }) => status !== 'cancelled')
  /** Messages by recipient, in order. */
  const messagesTo = async (to: string) => {
    const all = await Promise.all(google.sent.map(({ raw }) => PostalMime.parse(raw)))
    return all.filter((mail) => mail.to?.some(({ address }) => address === to))
  }
  const recorded = async () => {
    const rows = await db.read.selectFrom('events').select(['type', 'data']).orderBy('id').execute()
    return rows.flatMap(({ type, data }) => (type.startsWith('booking.') ? [{ type, data: JSON.parse(data) }] : []))
  }
  const later = (ms: number) => {
    aheadMs += ms
  }
  return { db, google, ids, features, bookings, book, shows, events, messagesTo, recorded, later, startMs, iso }
}

type Mail = Awaited<ReturnType<typeof PostalMime.parse>>

function readIcs(mail: Mail | undefined): string {
  const part = mail?.attachments.find(({ mimeType }) => mimeType === 'text/calendar')
  const content = part?.content
  return typeof content === 'string' ? content : new TextDecoder().decode(content)
}

function parseIcs(mail: Mail | undefined) {
  const text = readIcs(mail)
  const calendar = parseObject(text)
  const event = calendar?.components.find(({ name }) => name === 'VEVENT')
  if (calendar === undefined || event === undefined) throw new Error(`the message has no invitation: ${text}`)
  const value = (name: string) => property(event, name)?.value
  return {
    method: property(calendar, 'METHOD')?.value,
    uid: readText(event, 'UID'),
    summary: readText(event, 'SUMMARY'),
    value,
  }
}

describe('what follows a booking', () => {
  it('writes the calendars and sends messages with an invitation, through moves and the end', async () => {
    const { google, bookings, book, shows, events, messagesTo, recorded, startMs, iso } = await withHosts()
    const nth = async (index: number) => {
      const message = (await messagesTo(GUEST.email))[index]
      if (message === undefined) throw new Error('the message has not arrived')
      return message
    }
    const topic = 'Terms\r\nATTENDEE:mailto:x@y.example\n<img src=x>'
    const { id } = await book({ responses: { topic }, attendees: [{ email: 'kim@northwind.example' }] })
    const row = await shows(id, { status: 'confirmed', calendarState: 'written' })
    for (const host of [ADA, BO]) {
      const [event, ...others] = events(host)
      expect(others).toEqual([])
      expect(event).toMatchObject({ summary: 'Intro; call: Lin <b>Duarte</b>', attendees: [{ email: GUEST.email }] })
      expect(String(event?.description)).toContain('<img src=x>')
      expect(String(event?.description)).toContain(`https://booking.example/book/intro-call/bookings/${id}?token=`)
    }
    // Google sends no invitation of its own.
    expect(google.calendars.sent).toEqual([])
    expect(row.eventId).toMatch(/^cev_/)
    const [mail] = await eventually(async () => {
      const found = await messagesTo(GUEST.email)
      expect(found).toHaveLength(1)
      return found
    })
    expect(mail).toMatchObject({
      subject: 'Bestätigt: Intro; call',
      from: { address: ADA },
      to: [{ name: GUEST.name }],
    })
    expect(mail?.text).toContain('(America/Sao Paulo)')
    expect(mail?.html).toContain('token=')
    const first = parseIcs(mail)
    expect(first).toMatchObject({ method: 'REQUEST', uid: `${id}@booking.example`, summary: 'Intro; call' })
    expect([first.value('SEQUENCE'), first.value('ORGANIZER'), first.value('ATTENDEE')]).toEqual([
      '0',
      `mailto:${ADA}`,
      `mailto:${GUEST.email}`,
    ])
    const [other] = await eventually(async () => {
      const found = await messagesTo('kim@northwind.example')
      expect(found).toHaveLength(1)
      return found
    })
    expect(other?.text).not.toContain('token=')
    const [toHost] = await eventually(async () => {
      const found = await messagesTo(BO)
      expect(found).toHaveLength(1)
      return found
    })
    expect(toHost).toMatchObject({ subject: 'New booking: Intro; call', replyTo: [{ address: GUEST.email }] })
    expect(toHost?.html).toContain('&lt;img src=x&gt;')
    expect(toHost?.html).not.toContain('<img')
    expect(parseIcs(toHost).method).toBe('PUBLISH')

    await bookings.reschedule(id, { start: iso(startMs + DAY_MS) }, OPTIONS)
    await shows(id, { status: 'rescheduled', calendarState: 'written' })
    expect(events(BO).map(({ start }) => start.dateTime)).toEqual([
      expect.stringContaining(iso(startMs + DAY_MS).slice(0, 10)),
    ])
    const moved = parseIcs(await eventually(() => nth(1)))
    expect([moved.method, moved.uid, moved.value('SEQUENCE')]).toEqual(['REQUEST', first.uid, '1'])

    await bookings.cancel(id, 'guest', 'Sorry')
    await shows(id, { status: 'cancelled', calendarState: 'written' })
    expect([events(ADA), events(BO)]).toEqual([[], []])
    const cancelled = await eventually(() => nth(2))
    expect([parseIcs(cancelled).method, parseIcs(cancelled).value('SEQUENCE')]).toEqual(['CANCEL', '2'])
    expect(cancelled.text).toContain('Sorry')
    const meeting = { errors: [], uid: `${id}@booking.example`, summary: 'Intro; call' }
    const states = [
      { method: 'REQUEST', sequence: 0, status: 'CONFIRMED', startMs },
      { method: 'REQUEST', sequence: 1, status: 'CONFIRMED', startMs: startMs + DAY_MS },
      { method: 'CANCEL', sequence: 2, status: 'CANCELLED', startMs: startMs + DAY_MS },
    ].map(({ startMs, ...state }) => ({ ...meeting, ...state, start: iso(startMs).replace('.000', '') }))
    const read = readWithOthers((await messagesTo(GUEST.email)).map(readIcs))
    expect(read).toMatchObject(states.map((state) => ({ icalendar: state, vobject: state })))
    expect((await recorded()).map(({ type }) => type)).toEqual([
      'booking.created',
      'booking.confirmed',
      'booking.rescheduled',
      'booking.cancelled',
    ])
  })

  it('repeats what a calendar fails to do, and shows it meanwhile', async () => {
    const { google, book, shows, events } = await withHosts({ hosts: [ADA] })
    google.fail({ as: 'missing-scope', on: /^POST .*\/events/, times: 1000 })
    const { id } = await book()
    await shows(id, { calendarState: 'failing', calendarError: expect.stringContaining('scope') })
    google.faults.clear()
    await shows(id, { status: 'confirmed', calendarState: 'written', calendarError: null })
    expect(events(ADA)).toHaveLength(1)
  })

  it('ends the booking when a calendar refuses it for good', async () => {
    const reader = { id: BO, primary: true, accessRole: 'reader' as const }
    const { db, book, shows, events, messagesTo, recorded } = await withHosts({
      prepare: (google) => google.calendars.add(BO, reader),
    })
    const { id } = await book()
    await shows(id, {
      status: 'rejected',
      calendarState: 'failed',
      calendarError: expect.stringContaining('only read'),
    })
    await eventually(async () => expect(events(ADA)).toEqual([]))
    expect(await db.read.selectFrom('bookingBlocks').selectAll().execute()).toEqual([])
    expect((await recorded()).at(-1)).toMatchObject({ type: 'booking.rejected', data: { reason: expect.any(String) } })
    const [mail] = await eventually(async () => {
      const found = await messagesTo(GUEST.email)
      expect(found).toHaveLength(1)
      return found
    })
    expect(mail?.subject).toBe('Nicht möglich: Intro; call')
    expect((await book()).status).toBe('confirmed')
  })

  it('leaves nothing in the calendar of a host who no longer takes part', async () => {
    const assignment = {
      assignment: 'round_robin',
      openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }],
    }
    const { db, book, bookings, shows, events, ids, startMs, iso } = await withHosts({
      experience: { availability: { ...assignment, reminders: [], intervalMinutes: 30 } },
    })
    const first = await shows((await book()).id, { calendarState: 'written' })
    const second = await shows((await book()).id, { calendarState: 'written' })
    expect([first, second].map(({ hosts }) => JSON.parse(hosts)[0]).sort()).toEqual([...ids].sort())
    // The host of the first booking is busy at the new time, so that the other one takes it.
    const third = (
      await bookings.create('intro-call', { slot: { start: iso(startMs + HOUR_MS) }, guest: GUEST }, OPTIONS)
    ).row
    await shows(third.id, { calendarState: 'written' })
    const mover = [first, second].find(({ hosts }) => hosts === third.hosts)
    if (mover === undefined) throw new Error('the third booking has another host')
    await bookings.reschedule(mover.id, { start: iso(startMs + HOUR_MS) }, OPTIONS)
    const moved = await shows(mover.id, { status: 'rescheduled', calendarState: 'written' })
    expect(moved.hosts).not.toBe(mover.hosts)
    expect([events(ADA).length, events(BO).length].sort()).toEqual([1, 2])
    expect(await db.read.selectFrom('bookingEvents').selectAll().execute()).toHaveLength(3)
  })

  it('follows a host who moves or deletes the event in another program', async () => {
    const { db, google, features, book, shows, messagesTo, recorded, startMs, iso } = await withHosts()
    features.calendarRuns.start()
    await features.ownership.start()
    await eventually(async () => {
      const calendars = await db.read.selectFrom('calendars').select('syncedAt').execute()
      expect(calendars.filter(({ syncedAt }) => syncedAt !== null)).toHaveLength(2)
    })
    const { id } = await book()
    await shows(id, { calendarState: 'written' })
    const eventAt = (host: string) => google.calendars.events(host, host).find(({ status }) => status !== 'cancelled')
    const event = eventAt(BO)
    const time = (ms: number) => ({ dateTime: iso(ms), timeZone: 'Europe/Berlin' })
    google.calendars.put(BO, BO, { ...event, start: time(startMs + HOUR_MS), end: time(startMs + 2 * HOUR_MS) })
    await shows(id, { status: 'rescheduled', startMs: startMs + HOUR_MS, endMs: startMs + 2 * HOUR_MS })
    await shows(id, { calendarState: 'written' })
    const local = Date.parse(`${String(eventAt(ADA)?.start.dateTime).slice(0, 19)}Z`)
    expect(findZone('Europe/Berlin')?.toUtc(local)).toBe(startMs + HOUR_MS)
    const blocks = await db.read.selectFrom('bookingBlocks').select(['startMs', 'blockedTo']).execute()
    expect(blocks).toEqual(Array(2).fill({ startMs: startMs + HOUR_MS, blockedTo: startMs + 2 * HOUR_MS }))

    google.calendars.cancel(BO, BO, event?.id ?? '')
    await shows(id, { status: 'cancelled', cancelledBy: 'host', calendarState: 'written' })
    expect(eventAt(ADA)).toBeUndefined()
    await eventually(async () => {
      expect((await messagesTo(GUEST.email)).map(({ subject }) => subject)).toContain('Abgesagt: Intro; call')
    })
    expect((await recorded()).map(({ type, data }) => [type, data.cancelledBy])).toEqual([
      ['booking.created', undefined],
      ['booking.confirmed', undefined],
      ['booking.rescheduled', undefined],
      ['booking.cancelled', 'host'],
    ])
  })

  it('reminds of a booking that takes place', async () => {
    const { book, bookings, messagesTo, recorded, shows, later, startMs, iso } = await withHosts({
      hosts: [ADA],
      experience: {
        availability: { openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }], reminders: [60] },
      },
    })
    const { id } = await book()
    const gone = (
      await bookings.create('intro-call', { slot: { start: iso(startMs + HOUR_MS / 2) }, guest: GUEST }, OPTIONS)
    ).row
    await bookings.cancel(gone.id, 'api', null)
    await shows(id, { calendarState: 'written' })
    later(startMs - 59 * 60_000 - Date.now())
    await eventually(async () => {
      expect((await recorded()).at(-1)).toMatchObject({ type: 'booking.reminder', data: { id, minutesBefore: 60 } })
    })
    await eventually(async () => {
      expect((await messagesTo(GUEST.email)).map(({ subject }) => subject)).toContain('Erinnerung: Intro; call')
    })
    expect((await recorded()).filter(({ type }) => type === 'booking.reminder')).toHaveLength(1)
  })
})
