import { expect } from 'vitest'
import type { Db } from '../../../src/platform/db/index.ts'
import { eventually } from '../../kit/eventually.ts'
import type { Radicale } from '../../servers/radicale.ts'
import type { SmtpSink } from '../../servers/smtp.ts'
import { expectEachAnnouncedOnce } from '../announcements.ts'
import type { Application, ReceivedEvent } from '../application.ts'
import { buildGuest, buildSendSubject, buildSlug, type CalendarEdit, RECIPIENT } from './loads.ts'

const MANY_MS = 300_000

export interface SendCounts {
  sent: number
  uncertain: number
  /** Uncertain ones that the server has. */
  uncertainDelivered: number
}

/** Requires that each message is sent or ends uncertain, and that the server has each sent one once and no uncertain one twice. */
export async function expectSends(db: Db, smtp: SmtpSink, count: number): Promise<SendCounts> {
  const rows = () =>
    db.read.selectFrom('outbox').select(['subject', 'status']).where('subject', 'like', 'send-%').execute()
  await eventually(async () => {
    const open = (await rows()).filter(({ status }) => status !== 'sent' && status !== 'uncertain')
    expect(open).toEqual([])
  }, MANY_MS)
  const stored = await rows()
  expect(stored.map(({ subject }) => subject).sort()).toEqual(numbered(count, buildSendSubject).sort())
  const received = smtp.messages.filter(({ to }) => to.includes(RECIPIENT)).map(({ raw }) => readSubject(raw))
  expect(findRepeated(received)).toEqual([])
  const arrived = new Set(received)
  const [sent, uncertain] = [false, true].map((isUncertain) =>
    stored.filter(({ status }) => (status === 'uncertain') === isUncertain).map(({ subject }) => subject),
  ) as [string[], string[]]
  expect(sent.filter((subject) => !arrived.has(subject))).toEqual([])
  const uncertainDelivered = uncertain.filter((subject) => arrived.has(subject)).length
  return { sent: sent.length, uncertain: uncertain.length, uncertainDelivered }
}

export interface BookingPlaces {
  radicale: Radicale
  /** The calendar of each host, in the order of the hosts. */
  calendars: ReadonlyMap<string, string>
}

/** Requires that each booking is confirmed, is one event in the calendar of its host, was announced once, and caused one message to its guest. */
export async function expectBookings(
  db: Db,
  smtp: SmtpSink,
  { radicale, calendars }: BookingPlaces,
  count: number,
): Promise<void> {
  await eventually(async () => {
    const due = await db.read.selectFrom('bookingTasks').select('id').where('dueAt', 'is not', null).execute()
    expect(due).toEqual([])
  }, MANY_MS)
  const rows = await db.read.selectFrom('bookings').selectAll().execute()
  expect(rows.map(({ status, calendarState }) => `${status} ${calendarState}`)).toEqual(
    numbered(count, () => 'confirmed written'),
  )
  for (const [host, [user, calendar]] of [...calendars].entries()) {
    const own = rows.filter(({ experienceSlug }) => experienceSlug === buildSlug(host))
    const starts = own.map(({ startMs }) => new Date(startMs).toISOString().replaceAll(/[-:]|\.\d+Z/g, ''))
    expect(readStarts(await radicale.request(user, 'GET', calendar))).toEqual(starts.sort())
  }
  for (const type of ['booking.created', 'booking.confirmed']) {
    const events = await db.read.selectFrom('events').select('objectId').where('type', '=', type).execute()
    expect(events.map(({ objectId }) => objectId).sort()).toEqual(rows.map(({ id }) => id).sort())
  }
  await eventually(async () => {
    const open = await db.read
      .selectFrom('outbox')
      .select(['subject', 'status'])
      .where('status', 'not in', ['sent', 'uncertain'])
      .execute()
    expect(open).toEqual([])
  }, MANY_MS)
  const guests = numbered(count, buildGuest)
  const received = smtp.messages.flatMap(({ to }) => to).filter((email) => email.startsWith('guest-'))
  expect(findRepeated(received)).toEqual([])
  const uncertain = await db.read
    .selectFrom('outbox')
    .select('id')
    .where('status', '=', 'uncertain')
    .where('subject', 'not like', 'send-%')
    .execute()
  const missing = guests.filter((guest) => !received.includes(guest))
  expect(missing.length).toBeLessThanOrEqual(uncertain.length)
}

/** Requires that each edit was announced once, as what it was. */
export async function expectEdits(application: Application, edits: readonly CalendarEdit[]): Promise<void> {
  const kinds = new Map(edits.map(({ summary, kind }) => [summary, kind]))
  // Events of bookings are announced, too.
  const isEdit = ({ subject }: ReceivedEvent) => /^(created|updated|deleted)-\d+$/.test(subject)
  const edited = {
    get received() {
      return new Map([...application.received].filter(([, event]) => isEdit(event)))
    },
    badSignatures: application.badSignatures,
  }
  await expectEachAnnouncedOnce(edited, [...kinds.keys()], MANY_MS)
  const wrong = [...edited.received.values()].filter(
    ({ type, subject }) => type !== `calendar.event.${kinds.get(subject)}`,
  )
  expect(wrong.map(({ type, subject }) => `${type} ${subject}`)).toEqual([])
}

function readSubject(raw: Buffer): string {
  return /^Subject: (\S+)/im.exec(raw.toString('latin1'))?.[1] ?? ''
}

/** The starts of all events, such as `20261201T090000`, in order. */
function readStarts(calendar: string): string[] {
  const events = calendar.split('BEGIN:VEVENT').slice(1)
  return events.map((event) => /^DTSTART[^:]*:(\d{8}T\d{6})/m.exec(event)?.[1] ?? '').sort()
}

function numbered(count: number, build: (index: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => build(index))
}

function findRepeated(values: readonly string[]): string[] {
  const seen = new Set<string>()
  return values.filter((value) => seen.size === seen.add(value).size)
}
