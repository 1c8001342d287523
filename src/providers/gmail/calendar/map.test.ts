import { describe, expect, it } from 'vitest'
import { mappedItem, remoteCalendar } from './map.ts'

// Items in the form of Google's reference: calendarList#resource, events#resource, and the guide "Recurring events".
const context = { timeZone: 'America/Los_Angeles', defaultReminders: [{ method: 'popup', minutes: 30 }] }

const single = {
  kind: 'calendar#event',
  etag: '"3181161784712000"',
  id: '4eahs9ghkhrvkld72hogu9ph3e6',
  status: 'confirmed',
  htmlLink: 'https://www.google.com/calendar/event?eid=NGVhaHM5Z2hraHJ2a2xkNzJob2d1OXBo',
  created: '2026-05-27T17:24:00.000Z',
  updated: '2026-05-27T17:25:10.500Z',
  summary: 'Google I/O 2026',
  location: '800 Howard St.,\nSan Francisco',
  description: 'A <b>chance</b>.',
  creator: { email: 'ann@gmail.test', self: true },
  organizer: { email: 'ann@gmail.test', displayName: 'Ann', self: true },
  start: { dateTime: '2026-05-28T09:00:00-07:00', timeZone: 'America/Los_Angeles' },
  end: { dateTime: '2026-05-28T17:00:00-07:00', timeZone: 'America/Los_Angeles' },
  iCalUID: '4eahs9ghkhrvkld72hogu9ph3e6@google.com',
  sequence: 0,
  eventType: 'default',
  attendees: [
    { email: 'ann@gmail.test', displayName: 'Ann', organizer: true, self: true, responseStatus: 'accepted' },
    { email: 'bob@example.com', optional: true, responseStatus: 'needsAction', comment: 'late' },
    { email: 'boardroom@resource.calendar.google.com', resource: true, responseStatus: 'declined' },
  ],
  reminders: { useDefault: true },
}

describe('events of Google', () => {
  it('a single event', () => {
    expect(mappedItem(single, context)?.event).toEqual({
      eventId: single.id,
      iCalUid: single.iCalUID,
      etag: single.etag,
      status: 'confirmed',
      summary: 'Google I/O 2026',
      description: 'A <b>chance</b>.',
      location: '800 Howard St., San Francisco',
      start: { dateTime: '2026-05-28T09:00:00', timeZone: 'America/Los_Angeles' },
      end: { dateTime: '2026-05-28T17:00:00', timeZone: 'America/Los_Angeles' },
      recurrence: [],
      recurringEventId: null,
      originalStart: null,
      busy: true,
      visibility: 'default',
      organizer: expect.objectContaining({ email: 'ann@gmail.test', organizer: true, self: true }),
      attendees: [
        {
          email: 'ann@gmail.test',
          displayName: 'Ann',
          responseStatus: 'accepted',
          optional: false,
          organizer: true,
          self: true,
        },
        expect.objectContaining({ email: 'bob@example.com', responseStatus: 'needsAction', optional: true }),
        expect.objectContaining({ email: 'boardroom@resource.calendar.google.com', responseStatus: 'declined' }),
      ],
      conference: null,
      reminders: [{ method: 'popup', minutes: 30 }],
      htmlLink: single.htmlLink,
      createdAt: Date.UTC(2026, 4, 27, 17, 24),
      updatedAt: Date.UTC(2026, 4, 27, 17, 25, 10, 500),
    })
  })

  it('an all-day event, marked as free and private', () => {
    const item = { ...single, start: { date: '2026-11-20' }, end: { date: '2026-11-22' } }
    const event = mappedItem({ ...item, transparency: 'transparent', visibility: 'private' }, context)?.event
    expect(event).toMatchObject({ start: { date: '2026-11-20' }, end: { date: '2026-11-22' } })
    expect(event).toMatchObject({ busy: false, visibility: 'private' })
  })

  it.each([
    // The offset is that of the calendar, the zone that of the event.
    [{ dateTime: '2026-05-28T09:00:00-07:00', timeZone: 'Europe/Berlin' }, '2026-05-28T18:00:00', 'Europe/Berlin'],
    [{ dateTime: '2026-05-28T09:00:00-07:00' }, '2026-05-28T09:00:00', 'America/Los_Angeles'],
    [{ dateTime: '2026-05-28T16:00:00Z', timeZone: 'No/Such' }, '2026-05-28T09:00:00', 'America/Los_Angeles'],
    // Clocks are set back on 2026-10-25 in Berlin and on 2026-04-05 on Lord Howe Island: the second of two equal local times.
    [{ dateTime: '2026-10-25T00:30:00Z', timeZone: 'Europe/Berlin' }, '2026-10-25T02:30:00', 'Europe/Berlin'],
    [{ dateTime: '2026-10-25T01:30:00Z', timeZone: 'Europe/Berlin' }, '2026-10-25T01:30:00', 'UTC'],
    [{ dateTime: '2026-04-04T15:05:00Z', timeZone: 'Australia/Lord_Howe' }, '2026-04-04T15:05:00', 'UTC'],
  ])('the time %j', (start, dateTime, timeZone) => {
    expect(mappedItem({ ...single, start }, context)?.event?.start).toEqual({ dateTime, timeZone })
  })

  it('the master of a series and its exceptions', () => {
    const recurrence = ['EXDATE;VALUE=DATE:20260610', 'RRULE:FREQ=WEEKLY;UNTIL=20260701T170000Z']
    expect(mappedItem({ ...single, recurrence }, context)?.event?.recurrence).toEqual(recurrence)
    const exception = {
      ...single,
      id: `${single.id}_20260604T160000Z`,
      recurringEventId: single.id,
      originalStartTime: { dateTime: '2026-06-04T09:00:00-07:00', timeZone: 'America/Los_Angeles' },
    }
    const originalStart = { dateTime: '2026-06-04T09:00:00', timeZone: 'America/Los_Angeles' }
    expect(mappedItem(exception, context)?.event).toMatchObject({ recurringEventId: single.id, originalStart })
    const { id, recurringEventId, originalStartTime } = exception
    const cancelled = { kind: 'calendar#event', id, status: 'cancelled', recurringEventId, originalStartTime }
    expect(mappedItem(cancelled, context)?.event).toMatchObject({
      eventId: id,
      status: 'cancelled',
      recurringEventId: single.id,
      originalStart,
      start: originalStart,
    })
  })

  it('any other cancelled event is removed', () => {
    expect(mappedItem({ kind: 'calendar#event', id: 'gone', status: 'cancelled' }, context)).toEqual({
      removed: 'gone',
    })
  })

  it('conference links', () => {
    const conferenceData = {
      conferenceId: 'aaa-bbbb-ccc',
      conferenceSolution: { key: { type: 'hangoutsMeet' }, name: 'Google Meet' },
      entryPoints: [
        { entryPointType: 'phone', uri: 'tel:+1-234-567-8901', pin: '123456789' },
        { entryPointType: 'video', uri: 'https://meet.google.com/aaa-bbbb-ccc', label: 'meet.google.com/aaa-bbbb-ccc' },
      ],
    }
    const mappedConference = (members: object) => mappedItem({ ...single, ...members }, context)?.event?.conference
    const meet = { type: 'hangoutsMeet', url: 'https://meet.google.com/aaa-bbbb-ccc' }
    expect(mappedConference({ conferenceData })).toEqual(meet)
    expect(mappedConference({ hangoutLink: 'https://meet.google.com/aaa-bbbb-ccc' })).toEqual(meet)
    expect(mappedConference({ hangoutLink: 'javascript:alert(1)' })).toBeNull()
  })

  it('own reminders in place of the default ones', () => {
    const overrides = [
      { method: 'email', minutes: 1440 },
      { method: 'sms', minutes: 5 },
    ]
    const event = mappedItem({ ...single, reminders: { useDefault: false, overrides } }, context)?.event
    expect(event?.reminders).toEqual([{ method: 'email', minutes: 1440 }])
  })

  it('hostile and incomplete items', () => {
    expect(mappedItem({}, context)).toBeUndefined()
    expect(mappedItem({ ...single, start: { dateTime: 'yesterday' } }, context)).toEqual({
      unreadable: { eventId: single.id, reason: 'It has no start that can be read.' },
    })
    const event = mappedItem(
      {
        id: 'e',
        start: { date: '2026-01-01' },
        summary: 'a\0b\ud800',
        description: 'x'.repeat(10_000),
        attendees: Array.from({ length: 2000 }, () => ({ email: 5 })),
        htmlLink: 'ftp://example.com',
        recurrence: [7, 'RRULE:FREQ=DAILY', `EXDATE:${'20260101,'.repeat(10_000)}`],
        reminders: 'none',
      },
      context,
    )?.event
    expect(event).toMatchObject({
      summary: 'ab\ufffd',
      htmlLink: null,
      recurrence: ['RRULE:FREQ=DAILY'],
      reminders: [],
    })
    expect([event?.description.length, event?.attendees.length]).toEqual([8192, 1000])
  })
})

describe('calendars of Google', () => {
  it('an entry of the list', () => {
    const entry = {
      kind: 'calendar#calendarListEntry',
      id: 'team@group.calendar.google.com',
      summary: 'Team',
      colorId: '14',
      summaryOverride: 'My team',
      timeZone: 'Europe/Zurich',
      accessRole: 'writerWithoutPrivateAccess',
      backgroundColor: '#9FE1E7',
      foregroundColor: 'black',
      selected: true,
      defaultReminders: [],
    }
    expect(remoteCalendar(entry)).toEqual({
      calendarId: 'team@group.calendar.google.com',
      summary: 'My team',
      description: '',
      role: 'writer',
      timeZone: 'Europe/Zurich',
      backgroundColor: '#9fe1e7',
      foregroundColor: null,
      primary: false,
      selected: true,
    })
    expect(remoteCalendar({ ...entry, deleted: true })).toBeUndefined()
  })
})
