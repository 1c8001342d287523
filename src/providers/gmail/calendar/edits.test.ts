import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GoogleCalendarFixture, googleCalendars } from '../../../../test/servers/google-calendars.ts'
import type { EventInput, RemoteEvent } from '../../contract/index.ts'

const signal = new AbortController().signal
const ZONE = 'Europe/Berlin'
const at = (dateTime: string) => ({ dateTime, timeZone: ZONE })
const input: EventInput = {
  summary: 'Planning',
  description: 'All of it',
  location: 'Berlin',
  recurrence: [],
  start: at('2026-11-20T09:00:00'),
  end: at('2026-11-20T10:00:00'),
  busy: true,
  visibility: 'default',
  attendees: [{ email: 'bob@example.com', displayName: 'Bob', optional: true }],
  reminders: null,
  conference: false,
}
let keys = 0
const key = () => `00000000-0000-4000-8000-${String(keys++).padStart(12, '0')}`
const silent = { notify: false, signal }

describe('changes of Google Calendar', () => {
  let fixture: GoogleCalendarFixture
  let calendarId: string
  beforeAll(async () => {
    fixture = await googleCalendars()
    calendarId = fixture.user
  })
  afterAll(() => fixture.stop())

  const create = (event: Partial<EventInput> = {}) =>
    fixture.edits.createEvent({ calendarId, key: key(), event: { ...input, ...event }, ...silent })
  const target = ({ eventId }: RemoteEvent) => ({ calendarId, eventId, instance: null })
  const instance = ({ eventId }: RemoteEvent, dateTime: string) => ({ calendarId, eventId, instance: at(dateTime) })

  it('creates an event, once for a key, and reads it back', async () => {
    const request = { calendarId, key: key(), event: { ...input, conference: true }, notify: true, signal }
    const event = await fixture.edits.createEvent(request)
    expect(event).toMatchObject({
      summary: 'Planning',
      description: 'All of it',
      location: 'Berlin',
      start: input.start,
      end: input.end,
      attendees: [{ email: 'bob@example.com', displayName: 'Bob', optional: true, responseStatus: 'needsAction' }],
      reminders: [{ method: 'popup', minutes: 10 }],
      organizer: { email: calendarId, self: true },
      conference: { type: 'hangoutsMeet', url: expect.stringContaining('https://meet.google.com/') },
    })
    expect((await fixture.edits.createEvent(request)).eventId).toBe(event.eventId)
    expect(fixture.google.calendars.sent).toEqual([{ user: calendarId, eventId: event.eventId, what: 'insert' }])
    expect(await fixture.edits.getEvent(target(event), signal)).toEqual(event)
  })

  it('changes only what is given, from all-day to times and back', async () => {
    const event = await create({ start: { date: '2026-11-20' }, end: { date: '2026-11-22' }, visibility: 'private' })
    expect(event).toMatchObject({ start: { date: '2026-11-20' }, end: { date: '2026-11-22' }, visibility: 'private' })
    const changes = { start: input.start, end: input.end, busy: false, reminders: [] }
    const changed = await fixture.edits.updateEvent({ ...target(event), changes, etag: event.etag, ...silent })
    expect(changed).toMatchObject({ start: input.start, busy: false, reminders: [], summary: 'Planning' })
    const dates = { start: { date: '2026-11-23' }, end: { date: '2026-11-24' } }
    const back = await fixture.edits.updateEvent({ ...target(event), changes: dates, etag: null, ...silent })
    expect(back).toMatchObject(dates)
    const stale = fixture.edits.updateEvent({ ...target(event), changes: dates, etag: event.etag, ...silent })
    await expect(stale).rejects.toMatchObject({ kind: 'conflict' })
  })

  it('keeps what else is stored about attendees who stay, also members that it does not know', async () => {
    const times = { start: input.start, end: input.end, summary: 'Planning' }
    const bob = {
      email: 'Bob@example.com',
      responseStatus: 'accepted',
      comment: 'by train',
      additionalGuests: 2,
      future: { seat: 'window' },
    }
    const hall = { email: 'hall@resource.calendar.google.com', resource: true, responseStatus: 'accepted' }
    const self = { email: calendarId, self: true, additionalGuests: 1, future: 'kept' }
    const eventId = fixture.google.calendars.put(calendarId, calendarId, { ...times, attendees: [bob, hall, self] })
    const stored = () => fixture.google.calendars.get(calendarId, calendarId, eventId)
    const attendees = [bob.email.toLowerCase(), hall.email, calendarId, 'carl@example.com'].map((email) => ({
      email,
      displayName: '',
      optional: true,
    }))
    const request = { calendarId, eventId, instance: null, etag: null, ...silent }
    await fixture.edits.updateEvent({ ...request, changes: { attendees } })
    expect(stored()?.attendees).toMatchObject([
      { ...bob, email: 'bob@example.com', optional: true },
      { ...hall, optional: true },
      { ...self, optional: true },
      { email: 'carl@example.com', responseStatus: 'needsAction' },
    ])
    await fixture.edits.respond({ ...request, response: 'accepted', comment: '' })
    expect(stored()?.attendees?.[2]).toMatchObject({ ...self, responseStatus: 'accepted' })
  })

  it('keeps the answers of attendees who stay, also when one answers meanwhile', async () => {
    const { google } = fixture
    const event = await create()
    const stored = google.calendars.get(calendarId, calendarId, event.eventId)
    const accepted = [{ email: 'Bob@example.com', responseStatus: 'accepted' }]
    google.calendars.put(calendarId, calendarId, { ...stored, attendees: accepted })
    google.calendars.afterNextRead(() => {
      const answered = [{ email: 'Bob@example.com', responseStatus: 'declined' }]
      google.calendars.put(calendarId, calendarId, { ...stored, attendees: answered })
    })
    const carl = { email: 'carl@example.com', displayName: '', optional: false }
    const changes = { attendees: [...input.attendees, carl], conference: true }
    const changed = await fixture.edits.updateEvent({ ...target(event), changes, etag: null, ...silent })
    expect(changed.attendees).toMatchObject([
      { email: 'bob@example.com', responseStatus: 'declined', optional: true },
      { email: 'carl@example.com', responseStatus: 'needsAction' },
    ])
    const again = await fixture.edits.updateEvent({ ...target(event), changes, etag: null, ...silent })
    expect(again.conference).toEqual(changed.conference)
  })

  it('changes, reads and deletes one instance of a series', async () => {
    const recurrence = ['RRULE:FREQ=WEEKLY;COUNT=5']
    const master = await create({ recurrence })
    expect(master.recurrence).toEqual(recurrence)
    const second = instance(master, '2026-11-27T09:00:00')
    const changes = { summary: 'Moved', start: at('2026-11-28T09:00:00'), end: at('2026-11-28T10:00:00') }
    const moved = await fixture.edits.updateEvent({ ...second, changes, etag: null, ...silent })
    expect(moved).toMatchObject({
      summary: 'Moved',
      recurringEventId: master.eventId,
      originalStart: second.instance,
      start: changes.start,
    })
    expect(await fixture.edits.getEvent(second, signal)).toEqual(moved)
    await fixture.edits.deleteEvent({ ...second, ...silent })
    await expect(fixture.edits.getEvent(second, signal)).rejects.toMatchObject({ kind: 'not_found' })
    await expect(fixture.edits.getEvent(instance(master, '2026-11-25T09:00:00'), signal)).rejects.toMatchObject({
      kind: 'not_found',
    })

    await fixture.edits.deleteEvent({ ...target(master), ...silent })
    await fixture.edits.deleteEvent({ ...target(master), ...silent })
    const late = fixture.edits.updateEvent({ ...target(master), changes, etag: null, ...silent })
    await expect(late).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('names an instance of an all-day series by its date', async () => {
    const dates = { start: { date: '2026-11-20' }, end: { date: '2026-11-21' } }
    const { eventId } = await create({ ...dates, recurrence: ['RRULE:FREQ=DAILY;COUNT=3'] })
    const second = { calendarId, eventId, instance: { date: '2026-11-21' } }
    expect(await fixture.edits.getEvent(second, signal)).toMatchObject({ originalStart: { date: '2026-11-21' } })
  })

  it('answers an invitation for the account only', async () => {
    const { google } = fixture
    const attendees = [
      { email: 'bob@example.com', organizer: true, responseStatus: 'accepted' },
      { email: calendarId, self: true, responseStatus: 'needsAction' },
    ]
    const times = { start: input.start, end: input.end }
    const eventId = google.calendars.put(calendarId, calendarId, { ...times, attendees })
    const request = { calendarId, eventId, instance: null, comment: 'Late', notify: true, signal }
    const answered = await fixture.edits.respond({ ...request, response: 'tentative' })
    expect(answered?.attendees).toMatchObject([
      { responseStatus: 'accepted' },
      { responseStatus: 'tentative', self: true },
    ])
    expect(google.calendars.sent.at(-1)).toEqual({ user: calendarId, eventId, what: 'patch' })
    const own = await create()
    const refused = fixture.edits.respond({ ...request, eventId: own.eventId, response: 'accepted' })
    await expect(refused).rejects.toMatchObject({ kind: 'rejected', missingScope: false })
  })

  it('refuses changes of a calendar that is shared for reading', async () => {
    fixture.google.calendars.add(fixture.user, { id: 'holidays', accessRole: 'reader' })
    const created = fixture.edits.createEvent({ calendarId: 'holidays', key: key(), event: input, ...silent })
    await expect(created).rejects.toMatchObject({ kind: 'rejected', missingScope: false })
  })

  it('reads busy times of several calendars over a long range', async () => {
    const { google, user } = fixture
    for (const id of ['busy', 'free']) google.calendars.add(user, { id })
    google.calendars.put(user, 'busy', {
      id: 'monthly',
      recurrence: ['RRULE:FREQ=MONTHLY;COUNT=6'],
      start: at('2027-01-10T09:00:00'),
      end: at('2027-01-10T10:00:00'),
    })
    google.calendars.put(user, 'busy', { start: at('2027-01-10T09:30:00'), end: at('2027-01-10T11:00:00') })
    google.calendars.put(user, 'free', {
      start: at('2027-01-10T09:00:00'),
      end: at('2027-01-10T10:00:00'),
      transparency: 'transparent',
    })
    const range = { from: Date.UTC(2027, 0, 1), to: Date.UTC(2027, 5, 1) }
    const [busy, free, unknown] = await fixture.freeBusy.freeBusy({
      ids: ['busy', 'free', 'nobody@example.com'],
      range,
      timeZone: 'UTC',
      signal,
    })
    expect(busy?.busy).toHaveLength(5)
    expect(busy?.busy[0]).toEqual({ from: Date.UTC(2027, 0, 10, 8), to: Date.UTC(2027, 0, 10, 10) })
    expect([free, unknown]).toEqual([
      { id: 'free', busy: [], error: null },
      { id: 'nobody@example.com', busy: [], error: 'not_found' },
    ])
  })
})
