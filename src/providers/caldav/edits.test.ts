import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { caldavAccess, testCaldav } from '../../../test/kit/calendars/caldav.ts'
import { fc } from '../../../test/kit/random/random.ts'
import { type Radicale, radicaleAvailable, startRadicale } from '../../../test/servers/radicale.ts'
import type { CalendarAccount, CalendarEdits, EventInput, RemoteEvent } from '../contract/index.ts'

const USER = 'ada@example.com'
const { signal } = new AbortController()
const silent = { notify: false, signal }
const at = (dateTime: string, timeZone = 'Europe/Berlin') => ({ dateTime, timeZone })
const INPUT: EventInput = {
  summary: 'Planning; part 1, "all"',
  description: 'First\nsecond \\ <b>',
  location: 'Caf\u00e9',
  recurrence: [],
  start: at('2026-11-20T09:00:00'),
  end: at('2026-11-20T10:00:00'),
  busy: true,
  visibility: 'default',
  attendees: [{ email: 'bob@example.com', displayName: 'Bob: the "boss"', optional: true }],
  reminders: [{ method: 'popup', minutes: 30 }],
  conference: false,
}
/** An attendee with values that this code does not read. */
const OTHER = 'ATTENDEE;MEMBER="mailto:a@b.c","mailto:d@e.f":urn:uuid:1\r\n'
const WEEKLY: Partial<EventInput> = {
  start: at('2026-11-02T09:00:00'),
  end: at('2026-11-02T09:30:00'),
  recurrence: ['RRULE:FREQ=WEEKLY;COUNT=5', 'EXDATE;TZID=Europe/Berlin:20261123T090000'],
}

describe.skipIf(!radicaleAvailable())('changes of CalDAV calendars', () => {
  let radicale: Radicale
  let account: CalendarAccount
  let edits: CalendarEdits
  let calendarId: string
  let close: () => Promise<void>
  beforeAll(async () => {
    radicale = await startRadicale()
    await radicale.addUser(USER, 'secret')
    calendarId = await radicale.makeCalendar(USER, 'work')
    const caldav = testCaldav()
    close = caldav.close
    const access = caldavAccess(radicale.url, USER, 'secret')
    account = caldav.provider.open(access)
    const made = caldav.provider.edits?.(access)
    if (made === undefined) throw new Error('no changes')
    edits = made
  })
  afterAll(async () => {
    await close()
    await radicale.stop()
  })

  const create = (event: Partial<EventInput> = {}) =>
    edits.createEvent({ calendarId, key: randomUUID(), event: { ...INPUT, ...event }, ...silent })
  const target = ({ eventId }: RemoteEvent) => ({ calendarId, eventId, instance: null })
  const instance = ({ eventId }: RemoteEvent, dateTime: string) => ({ calendarId, eventId, instance: at(dateTime) })
  const update = (event: RemoteEvent, input: Partial<EventInput>, etag: string | null = null) =>
    edits.updateEvent({ ...target(event), changes: input, etag, ...silent })
  const readObject = ({ eventId }: RemoteEvent) => radicale.request(USER, 'GET', eventId.split('#')[0] ?? '')
  const stored = async ({ eventId }: RemoteEvent) => {
    const [path = ''] = eventId.split('#')
    const range = { from: Date.parse('2026-10-01T00:00:00Z'), to: Date.parse('2027-03-01T00:00:00Z') }
    const events = await account.readRange({ calendarId, range, expand: false, signal })
    return events.filter((event) => event.eventId.startsWith(path))
  }

  it('creates an event once for a key, and reads it back equal', async () => {
    const request = { calendarId, key: randomUUID(), event: INPUT, ...silent }
    const event = await edits.createEvent(request)
    const { conference: _conference, attendees: _attendees, ...input } = INPUT
    expect(event).toMatchObject({
      ...input,
      iCalUid: request.key,
      eventId: `${calendarId}${request.key}.ics`,
      status: 'confirmed',
      organizer: { email: USER, self: true },
      attendees: [
        { email: 'bob@example.com', displayName: 'Bob: the "boss"', optional: true, responseStatus: 'needsAction' },
      ],
    })
    expect(await edits.createEvent({ ...request, event: { ...INPUT, summary: 'Another' } })).toEqual(event)
    expect(await edits.getEvent(target(event), signal)).toEqual(event)
    expect(await stored(event)).toEqual([event])
    expect(await readObject(event)).toContain('BEGIN:VTIMEZONE')
  })

  it.each<[string, Partial<EventInput>, Partial<EventInput>]>([
    ['the same time', { end: INPUT.start }, { end: INPUT.start }],
    ['the same time in another zone', { end: at('2026-11-20T08:00:00', 'Europe/London') }, { end: INPUT.start }],
    ['the same day', { start: { date: '2026-11-20' }, end: { date: '2026-11-20' } }, { end: { date: '2026-11-21' } }],
  ])('writes no end for an event that ends at %s as it starts', async (_case, times, read) => {
    const event = await create(times)
    expect(event).toMatchObject(read)
    expect(await readObject(event)).not.toContain('DTEND')
    const series = await create({ ...times, recurrence: ['RRULE:FREQ=DAILY;COUNT=3'] })
    const [start] = 'date' in series.start ? [{ date: '2026-11-21' }] : [at('2026-11-21T09:00:00')]
    const named = { calendarId, eventId: series.eventId, instance: start }
    await edits.updateEvent({ ...named, changes: { summary: 'Changed' }, etag: null, ...silent })
    const text = await readObject(series)
    expect(text).toContain('RECURRENCE-ID')
    expect(text.match(/DTEND.*/g) ?? []).toEqual('date' in series.start ? ['DTEND;VALUE=DATE:20261122'] : [])
  })

  it('changes only what is given, and keeps what it does not know', async () => {
    const event = await create()
    const foreign = (await readObject(event)).replace('SUMMARY:', 'X-OTHER;X-P="a;b":kept\r\nSUMMARY:')
    await radicale.request(USER, 'PUT', event.eventId, foreign)
    const dates = { start: { date: '2026-11-23' }, end: { date: '2026-11-25' } }
    const changed = await update(event, { ...dates, busy: false, visibility: 'private', reminders: [], location: '' })
    expect(changed).toMatchObject({ ...dates, busy: false, visibility: 'private', reminders: [], location: '' })
    expect(changed).toMatchObject({ summary: INPUT.summary, description: INPUT.description })
    expect(await readObject(event)).toMatch(/X-OTHER;X-P="a;b":kept/)
    const back = await update(changed, { start: INPUT.start, end: INPUT.end, visibility: 'default' }, changed.etag)
    expect(back).toMatchObject({ start: INPUT.start, end: INPUT.end, visibility: 'default' })
    await expect(update(event, dates, changed.etag)).rejects.toMatchObject({ kind: 'conflict' })
  })

  it('keeps the answers of attendees who stay', async () => {
    const event = await create()
    await radicale.request(USER, 'PUT', event.eventId, (await readObject(event)).replace('NEEDS-ACTION', 'ACCEPTED'))
    const [bob] = INPUT.attendees
    const attendees = [
      ...(bob === undefined ? [] : [bob]),
      { email: 'zoe@example.com', displayName: '', optional: false },
    ]
    const changed = await update(event, { attendees })
    expect(changed.attendees).toMatchObject([
      { email: 'bob@example.com', responseStatus: 'accepted' },
      { email: 'zoe@example.com', responseStatus: 'needsAction', optional: false },
    ])
  })

  it('changes, cancels and answers one instance of a series', async () => {
    const series = await create(WEEKLY)
    const moved = await edits.updateEvent({
      ...instance(series, '2026-11-09T09:00:00'),
      changes: { summary: 'Moved', start: at('2026-11-10T15:00:00'), end: at('2026-11-10T16:00:00') },
      etag: series.etag,
      ...silent,
    })
    const ids = { recurringEventId: series.eventId, originalStart: at('2026-11-09T09:00:00'), recurrence: [] }
    expect(moved).toMatchObject({ ...ids, summary: 'Moved', start: at('2026-11-10T15:00:00'), location: 'Caf\u00e9' })
    expect(await edits.getEvent(target(moved), signal)).toEqual(moved)
    const again = await update(moved, { summary: 'Moved again' })
    expect(again).toMatchObject({ ...ids, summary: 'Moved again', start: at('2026-11-10T15:00:00') })

    await edits.deleteEvent({ ...instance(series, '2026-11-16T09:00:00'), ...silent })
    await edits.deleteEvent({ ...instance(series, '2026-11-16T09:00:00'), ...silent })
    const all = await stored(series)
    expect(all.map(({ eventId }) => eventId)).toEqual([series.eventId, moved.eventId])
    expect(all[0]?.recurrence).toEqual([
      'RRULE:FREQ=WEEKLY;COUNT=5',
      'EXDATE;TZID=Europe/Berlin:20261123T090000,20261116T090000',
    ])
    for (const dateTime of [
      '2026-11-16T09:00:00',
      '2026-11-23T09:00:00',
      '2026-11-17T09:00:00',
      '2026-12-07T09:00:00',
    ]) {
      const request = edits.getEvent(instance(series, dateTime), signal)
      await expect(request).rejects.toMatchObject({ kind: 'not_found' })
    }
    const last = await edits.getEvent({ ...target(series), instance: at('2026-11-30T08:00:00', 'UTC') }, signal)
    expect(last).toMatchObject({ start: at('2026-11-30T09:00:00'), end: at('2026-11-30T09:30:00'), recurrence: [] })
    await edits.deleteEvent({ ...target(again), ...silent })
    expect(await stored(series)).toHaveLength(1)
  })

  it('gives up exceptions when the series is moved, and deletes a series whole', async () => {
    const series = await create(WEEKLY)
    const request = { ...instance(series, '2026-11-09T09:00:00'), changes: { summary: 'Other' }, etag: null, ...silent }
    await edits.updateEvent(request)
    expect(await stored(series)).toHaveLength(2)
    const renamed = await update(series, { summary: 'All', start: series.start as EventInput['start'] })
    expect((await stored(series)).map(({ summary }) => summary)).toEqual(['All', 'Other'])
    const daily = ['RRULE:FREQ=DAILY;COUNT=3']
    const moved = await update(renamed, { ...INPUT, recurrence: daily })
    expect(await stored(series)).toEqual([moved])
    expect(moved.recurrence).toEqual(daily)
    await edits.deleteEvent({ ...target(series), ...silent })
    await edits.deleteEvent({ ...target(series), ...silent })
    expect(await stored(series)).toEqual([])
    await expect(update(series, { summary: 'x' })).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('answers an invitation, as a whole or for one instance', async () => {
    const series = await create({ ...WEEKLY, attendees: [{ email: USER, displayName: 'Ada', optional: false }] })
    const respond = (where: { calendarId: string; eventId: string; instance: ReturnType<typeof at> | null }) =>
      edits.respond({ ...where, response: 'tentative', comment: 'Perhaps;\nlater', ...silent })
    await expect(respond(target(series))).rejects.toMatchObject({ kind: 'rejected' })
    const invitation = (await readObject(series)).replace(
      /ORGANIZER.*\r\n/,
      `ORGANIZER:mailto:bob@example.com\r\n${OTHER}`,
    )
    await radicale.request(USER, 'PUT', series.eventId, invitation)
    const findSelf = (event: RemoteEvent | null) => event?.attendees.find(({ self }) => self)
    const answered = await respond(instance(series, '2026-11-09T09:00:00'))
    expect(answered?.recurringEventId).toBe(series.eventId)
    expect(findSelf(answered)).toMatchObject({ responseStatus: 'tentative', displayName: 'Ada' })
    expect(findSelf(await edits.getEvent(target(series), signal))?.responseStatus).toBe('needsAction')
    expect(findSelf(await respond(target(series)))?.responseStatus).toBe('tentative')
    expect(await readObject(series)).toContain('COMMENT:Perhaps\\;\\nlater')
    expect(await readObject(series)).toContain(OTHER)
  })

  it('makes a change again when another program was quicker', async () => {
    const event = await create()
    const [first, second] = await Promise.all([update(event, { summary: 'One' }), update(event, { location: 'Two' })])
    expect([first?.summary, second?.location]).toEqual(['One', 'Two'])
    expect(await edits.getEvent(target(event), signal)).toMatchObject({ summary: 'One', location: 'Two' })
  })

  it('refuses what CalDAV cannot do, other folders, and lines that are not about recurrence', async () => {
    await expect(create({ conference: true })).rejects.toMatchObject({ kind: 'rejected' })
    for (const line of ['X-EVIL:1', 'RRULE:FREQ=DAILY\r\nX-EVIL:1', 'no line', 'ATTENDEE:mailto:a@example.com']) {
      await expect(create({ recurrence: [line] })).rejects.toMatchObject({ kind: 'rejected' })
    }
    for (const eventId of [
      '/other/1.ics',
      `${calendarId}..`,
      `${calendarId}a?b.ics`,
      `${calendarId}../x.ics`,
      `${calendarId}a/b.ics`,
      calendarId,
      '',
      '#',
    ]) {
      const request = edits.getEvent({ calendarId, eventId, instance: null }, signal)
      await expect(request).rejects.toMatchObject({ kind: 'not_found' })
    }
  })

  it('writes any text so that it is read back, and nothing else appears', async () => {
    const piece = fc.constantFrom(
      '\r\n',
      '\n',
      'END:VEVENT',
      '\\n',
      '\\',
      ';',
      ',',
      ':',
      '"',
      '\u00eb',
      '\u{1F4C5}',
      'x'.repeat(40),
      '\t',
      ' ',
    )
    const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => `a${pieces.join('')}z`)
    await fc.assert(
      fc.asyncProperty(texts, texts, async (description, displayName) => {
        const attendees = [{ email: 'bob@example.com', displayName, optional: false }]
        const event = await create({ description, attendees })
        expect(event.description).toBe(description.replaceAll('\r\n', '\n'))
        expect(event.attendees).toHaveLength(1)
        expect(event).toMatchObject({ summary: INPUT.summary, location: INPUT.location, start: INPUT.start })
      }),
      { numRuns: 15 },
    )
  })
})
