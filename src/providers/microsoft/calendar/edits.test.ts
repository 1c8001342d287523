import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MicrosoftCalendarFixture, microsoftCalendars } from '../../../../test/servers/microsoft-calendars.ts'
import type { EventInput, RemoteEvent } from '../../contract/index.ts'

const signal = new AbortController().signal
const ZONE = 'Europe/Berlin'
const calendarId = 'calendar'
const at = (dateTime: string) => ({ dateTime, timeZone: ZONE })
const input: EventInput = {
  summary: 'Planning',
  description: 'All <b>\nof it',
  location: 'Berlin',
  recurrence: [],
  start: at('2026-11-20T09:00:00'),
  end: at('2026-11-20T10:00:00'),
  busy: true,
  visibility: 'default',
  attendees: [{ email: 'bob@example.com', displayName: 'Bob', optional: true }],
  reminders: [{ method: 'popup', minutes: 30 }],
  conference: false,
}
let keys = 0
const key = () => `00000000-0000-4000-8000-${String(keys++).padStart(12, '0')}`
const silent = { notify: false, signal }

describe('changes of Outlook calendars', () => {
  let fixture: MicrosoftCalendarFixture
  beforeAll(async () => {
    fixture = await microsoftCalendars()
  })
  afterAll(() => fixture.stop())

  const create = (event: Partial<EventInput> = {}) =>
    fixture.edits.createEvent({ calendarId, key: key(), event: { ...input, ...event }, ...silent })
  const target = ({ eventId }: RemoteEvent) => ({ calendarId, eventId, instance: null })
  const instance = ({ eventId }: RemoteEvent, dateTime: string) => ({ calendarId, eventId, instance: at(dateTime) })
  const update = (event: RemoteEvent, changes: Partial<EventInput>, etag: string | null = null) =>
    fixture.edits.updateEvent({ ...target(event), changes, etag, ...silent })

  it('creates an event, once for a key, and reads it back', async () => {
    const request = { calendarId, key: key(), event: input, ...silent }
    const event = await fixture.edits.createEvent(request)
    expect(event).toMatchObject({
      summary: 'Planning',
      description: 'All <b>\nof it',
      location: 'Berlin',
      start: input.start,
      end: input.end,
      attendees: [{ email: 'bob@example.com', displayName: 'Bob', optional: true, responseStatus: 'needsAction' }],
      reminders: [{ method: 'popup', minutes: 30 }],
      organizer: { email: fixture.user, self: true },
      conference: null,
    })
    expect((await fixture.edits.createEvent(request)).eventId).toBe(event.eventId)
    const other = await fixture.edits.createEvent({ ...request, event: { ...input, summary: 'Other' } })
    expect(other.eventId).toBe(event.eventId)
    expect(fixture.graph.calendars.sent).toEqual([{ user: fixture.user, eventId: event.eventId, what: 'request' }])
    expect(await fixture.edits.getEvent(target(event), signal)).toEqual(event)
  })

  it('finds what an earlier request created after its user moved it, without a filter that Graph does not have', async () => {
    const { graph, user } = fixture
    for (let n = 0; n < 15; n += 1) await create({ summary: `Other ${n}` })
    const request = { calendarId, key: key(), event: input, ...silent }
    const { eventId } = await fixture.edits.createEvent(request)
    await update({ eventId } as RemoteEvent, { start: at('2027-03-01T09:00:00'), end: at('2027-03-01T10:00:00') })
    graph.calls.clear()
    const repeated = await fixture.edits.createEvent({ ...request, event: { ...input, summary: 'Changed' } })
    expect(repeated).toMatchObject({ eventId, start: at('2027-03-01T09:00:00') })
    expect(
      graph.calls.all.filter(({ user: of, path }) => of === user && /transactionId( |%20|\+)eq/.test(path)),
    ).toEqual([])
  })

  it('takes an event for deleted that is gone and cannot be deleted again', async () => {
    const [gone, kept] = [await create(), await create()]
    await fixture.edits.deleteEvent({ ...target(gone), ...silent })
    const refuse = () => fixture.graph.fail({ as: 'cannot-delete', on: /^DELETE / })
    refuse()
    await fixture.edits.deleteEvent({ ...target(gone), ...silent })
    refuse()
    await expect(fixture.edits.deleteEvent({ ...target(kept), ...silent })).rejects.toMatchObject({
      kind: 'rejected',
    })
  })

  it('says that a personal account got no online meeting', async () => {
    fixture.graph.calendars.personal = true
    const event = await create({ conference: true })
    expect(event.conference).toBeNull()
    fixture.graph.calendars.personal = false
  })

  it.each(['MailboxNotEnabledForRESTAPI', 'MailboxNotSupportedForRESTAPI', 'ErrorNonExistentMailbox'])(
    'does not find a guest without a mailbox (%s), and reads the others',
    async (code) => {
      const [guest, bob] = ['guest@example.test', 'bob2@example.test']
      fixture.graph.calendars.scheduleErrors.set(guest, code)
      const range = { from: Date.UTC(2027, 0, 1), to: Date.UTC(2027, 0, 2) }
      expect(await fixture.freeBusy.freeBusy({ ids: [guest, bob], range, timeZone: 'UTC', signal })).toEqual([
        { id: guest, busy: [], error: 'not_found' },
        { id: bob, busy: [], error: null },
      ])
    },
  )

  it('changes only what is given, from all-day to times and back', async () => {
    const event = await create({ start: { date: '2026-11-20' }, end: { date: '2026-11-22' }, visibility: 'private' })
    expect(event).toMatchObject({ start: { date: '2026-11-20' }, end: { date: '2026-11-22' }, visibility: 'private' })
    const { start, end } = input
    const changed = await update(event, { start, end, busy: false, reminders: [] }, event.etag)
    expect(changed).toMatchObject({ start, end, busy: false, reminders: [], summary: 'Planning' })
    const dates = { start: { date: '2026-11-23' }, end: { date: '2026-11-24' } }
    expect(await update(event, dates)).toMatchObject(dates)
    await expect(update(event, dates, event.etag)).rejects.toMatchObject({ kind: 'conflict' })
  })

  it('adds an online meeting, and keeps its link when the description changes', async () => {
    const event = await create({ conference: true })
    expect(event).toMatchObject({
      description: 'All <b>\nof it',
      conference: { type: 'teamsForBusiness', url: expect.stringContaining('https://teams.microsoft.com/') },
    })
    const changed = await update(event, { description: 'Other & <words>', conference: true })
    expect(changed).toMatchObject({ description: 'Other & <words>', conference: event.conference })
    expect((await update(await create(), { conference: true })).conference?.type).toBe('teamsForBusiness')
    fixture.graph.calendars.add(fixture.user, { id: 'plain', allowedOnlineMeetingProviders: [] })
    const refused = fixture.edits.createEvent({
      calendarId: 'plain',
      key: key(),
      event: { ...input, conference: true },
      ...silent,
    })
    await expect(refused).rejects.toMatchObject({ kind: 'rejected', missingScope: false })
  })

  it('changes, reads and deletes one instance of a series', async () => {
    const recurrence = ['RRULE:FREQ=WEEKLY;BYDAY=FR;WKST=MO;COUNT=5']
    const master = await create({ recurrence })
    expect(master.recurrence).toEqual(recurrence)
    const second = instance(master, '2026-11-27T09:00:00')
    expect(await fixture.edits.getEvent(second, signal)).toMatchObject({ recurringEventId: master.eventId })
    const changes = { summary: 'Moved', start: at('2026-12-01T09:00:00'), end: at('2026-12-01T10:00:00') }
    const moved = await fixture.edits.updateEvent({ ...second, changes, etag: null, ...silent })
    expect(moved).toMatchObject({
      summary: 'Moved',
      recurringEventId: master.eventId,
      originalStart: second.instance,
      start: changes.start,
    })
    expect(await fixture.edits.getEvent(second, signal)).toEqual(moved)
    await fixture.edits.deleteEvent({ ...second, ...silent })
    await fixture.edits.deleteEvent({ ...second, ...silent })
    await expect(fixture.edits.getEvent(second, signal)).rejects.toMatchObject({ kind: 'not_found' })
    expect((await fixture.edits.getEvent(target(master), signal)).recurrence).toEqual(recurrence)

    const shorter = await update(master, { recurrence: ['RRULE:FREQ=WEEKLY;BYDAY=FR;WKST=MO;COUNT=3'] })
    expect(shorter.recurrence[0]).toContain('COUNT=3')
    await fixture.edits.deleteEvent({ ...target(master), ...silent })
    await expect(update(master, changes)).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('does not take a moved instance for deleted when its series cannot be read', async () => {
    const { graph } = fixture
    const master = await create({ recurrence: ['RRULE:FREQ=WEEKLY;BYDAY=FR;WKST=MO;COUNT=5'] })
    const second = instance(master, '2026-11-27T09:00:00')
    const changes = { start: at('2026-12-01T09:00:00'), end: at('2026-12-01T10:00:00') }
    const moved = await fixture.edits.updateEvent({ ...second, changes, etag: null, ...silent })
    graph.fail({ as: 'server-error', on: /exceptionOccurrences/, times: Number.POSITIVE_INFINITY })
    await expect(fixture.edits.deleteEvent({ ...second, ...silent })).rejects.toMatchObject({ kind: 'unavailable' })
    graph.faults.clear()
    expect(await fixture.edits.getEvent(second, signal)).toEqual(moved)
  })

  it('finds an instance of an all-day series by its date', async () => {
    const dates = { start: { date: '2026-11-20' }, end: { date: '2026-11-21' } }
    const { eventId } = await create({ ...dates, recurrence: ['RRULE:FREQ=DAILY;COUNT=3'] })
    const second = { calendarId, eventId, instance: { date: '2026-11-21' } }
    expect(await fixture.edits.getEvent(second, signal)).toMatchObject({
      start: { date: '2026-11-21' },
      originalStart: { date: '2026-11-21' },
    })
  })

  it('answers an invitation; a declined one leaves the calendar', async () => {
    const { graph, user } = fixture
    const attendees = [{ type: 'required', status: { response: 'none' }, emailAddress: { address: user } }]
    const invited = () => ({
      calendarId,
      instance: null,
      comment: 'Late',
      notify: true,
      signal,
      eventId: graph.calendars.put(user, calendarId, { ...input, attendees, isOrganizer: false } as never),
    })
    const accepted = invited()
    const event = await fixture.edits.respond({ ...accepted, response: 'accepted' })
    expect(event?.attendees).toMatchObject([{ self: true, responseStatus: 'accepted' }])
    expect(graph.calendars.sent.at(-1)).toEqual({ user, eventId: accepted.eventId, what: 'accept', comment: 'Late' })
    expect(await fixture.edits.respond({ ...invited(), response: 'declined' })).toBeNull()
    const own = { ...accepted, eventId: (await create()).eventId, response: 'accepted' as const }
    await expect(fixture.edits.respond(own)).rejects.toMatchObject({ kind: 'rejected' })
  })

  it('reads busy times of calendars and people over a long range', async () => {
    const { graph, user } = fixture
    graph.calendars.add(user, { id: 'work' })
    const zone = { originalStartTimeZone: 'W. Europe Standard Time' }
    const hour = { start: at('2027-01-10T09:00:00'), end: at('2027-01-10T10:00:00'), ...zone }
    const allDay = { start: at('2027-02-01T00:00:00'), end: at('2027-02-02T00:00:00'), isAllDay: true, ...zone }
    graph.calendars.put(user, 'work', hour)
    graph.calendars.put(user, 'work', { ...hour, start: at('2027-01-10T09:30:00'), end: at('2027-01-10T11:00:00') })
    graph.calendars.put(user, 'work', {
      ...hour,
      start: at('2027-01-11T09:00:00'),
      end: at('2027-01-11T10:00:00'),
      showAs: 'free',
    })
    graph.calendars.put(user, 'work', allDay)
    const bob = 'bob@example.test'
    graph.calendars.put(bob, calendarId, {
      ...hour,
      recurrence: { pattern: { type: 'daily', interval: 60 }, range: { type: 'noEnd', startDate: '2027-01-10' } },
    })
    const range = { from: Date.UTC(2027, 0, 1), to: Date.UTC(2027, 5, 1) }
    const ids = ['work', bob, 'unknown', 'nobody@example.com']
    const request = { ids, range, timeZone: 'UTC', signal }
    expect(await fixture.freeBusy.freeBusy(request)).toEqual([
      {
        id: 'work',
        error: null,
        busy: [
          { from: Date.UTC(2027, 0, 10, 8), to: Date.UTC(2027, 0, 10, 10) },
          { from: Date.UTC(2027, 0, 31, 23), to: Date.UTC(2027, 1, 1, 23) },
        ],
      },
      { id: bob, busy: [expect.anything(), expect.anything(), expect.anything()], error: null },
      { id: 'unknown', busy: [], error: 'not_found' },
      { id: 'nobody@example.com', busy: [], error: 'not_found' },
    ])
    graph.calendars.personal = true
    expect((await fixture.freeBusy.freeBusy({ ...request, ids: [bob] }))[0]).toMatchObject({ error: 'unavailable' })
  })
})
