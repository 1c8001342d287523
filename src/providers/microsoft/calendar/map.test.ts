import { describe, expect, it } from 'vitest'
import { cancelledInstances, remoteCalendar, remoteEvent } from './map.ts'

// Items in the form of Microsoft's reference: event, calendar, and Get event with exceptionOccurrences.
const email = 'ada@contoso.com'
const utc = (dateTime: string) => ({ dateTime: `${dateTime}.0000000`, timeZone: 'UTC' })

const single = {
  '@odata.etag': 'W/"ZlnW4RIAV06KYYwlfNZvQAAALfZeRQ=="',
  id: 'AAMkAGIAAAoZDOFAAA=',
  changeKey: 'ZlnW4RIAV06KYYwlf',
  createdDateTime: '2026-02-22T10:36:57.4415964Z',
  lastModifiedDateTime: '2026-02-22T10:36:58Z',
  originalStartTimeZone: 'Pacific Standard Time',
  originalEndTimeZone: 'Pacific Standard Time',
  iCalUId: '040000008200E00074C5B7101A82E00800000000DA',
  reminderMinutesBeforeStart: 15,
  isReminderOn: true,
  subject: "Let's go for lunch",
  sensitivity: 'normal',
  isAllDay: false,
  isCancelled: false,
  isOrganizer: true,
  seriesMasterId: null,
  showAs: 'busy',
  type: 'singleInstance',
  onlineMeetingUrl: null,
  recurrence: null,
  webLink: 'https://outlook.office365.com/owa/?itemid=AAMkAGIAAAoZDOFAAA%3D&exvsurl=1&path=/calendar/item',
  body: { contentType: 'text', content: 'Does late morning work for you?\r\n' },
  start: utc('2026-03-15T20:00:00'),
  end: utc('2026-03-15T22:00:00'),
  location: { displayName: "Harry's Bar", locationType: 'default', uniqueIdType: 'private' },
  attendees: [
    {
      type: 'required',
      status: { response: 'tentativelyAccepted', time: '2026-02-22T12:00:00Z' },
      emailAddress: { name: 'Samantha Booth', address: 'samanthab@contoso.com' },
    },
    { type: 'optional', status: { response: 'none' }, emailAddress: { name: 'Ada', address: 'Ada@Contoso.com' } },
  ],
  organizer: { emailAddress: { name: 'Dana Swope', address: 'danas@contoso.com' } },
  isOnlineMeeting: true,
  onlineMeetingProvider: 'teamsForBusiness',
  onlineMeeting: { joinUrl: 'https://teams.microsoft.com/l/meetup-join/19%3ameeting_NTg0', conferenceId: '177513992' },
}

describe('events of Graph', () => {
  it('a single event, in the zone in which it was created', () => {
    expect(remoteEvent(single, { email })).toEqual({
      eventId: single.id,
      iCalUid: single.iCalUId,
      etag: single['@odata.etag'],
      status: 'confirmed',
      summary: "Let's go for lunch",
      description: 'Does late morning work for you?',
      location: "Harry's Bar",
      start: { dateTime: '2026-03-15T13:00:00', timeZone: 'America/Los_Angeles' },
      end: { dateTime: '2026-03-15T15:00:00', timeZone: 'America/Los_Angeles' },
      recurrence: [],
      recurringEventId: null,
      originalStart: null,
      busy: true,
      visibility: 'default',
      organizer: {
        email: 'danas@contoso.com',
        displayName: 'Dana Swope',
        responseStatus: 'accepted',
        optional: false,
        organizer: true,
        self: true,
      },
      attendees: [
        expect.objectContaining({ email: 'samanthab@contoso.com', responseStatus: 'tentative', self: false }),
        expect.objectContaining({ responseStatus: 'needsAction', optional: true, self: true }),
      ],
      conference: { type: 'teamsForBusiness', url: single.onlineMeeting.joinUrl },
      reminders: [{ method: 'popup', minutes: 15 }],
      htmlLink: single.webLink,
      createdAt: Date.parse('2026-02-22T10:36:57.441Z'),
      updatedAt: Date.UTC(2026, 1, 22, 10, 36, 58),
    })
  })

  it.each([
    ['UTC', utc('2026-03-15T20:00:00'), '2026-03-15T20:00:00', 'UTC'],
    ['tzone://Microsoft/Custom', utc('2026-03-15T20:00:00'), '2026-03-15T20:00:00', 'UTC'],
    ['Europe/Berlin', utc('2026-03-15T20:00:00'), '2026-03-15T21:00:00', 'Europe/Berlin'],
    [
      'W. Europe Standard Time',
      { dateTime: '2026-03-15T20:00:00.0000000', timeZone: 'Eastern Standard Time' },
      '2026-03-16T01:00:00',
      'Europe/Berlin',
    ],
  ] as [string, object, string, string][])(
    'a time in the zone %s',
    (originalStartTimeZone, start, dateTime, timeZone) => {
      const item = { ...single, originalStartTimeZone, originalEndTimeZone: originalStartTimeZone, start }
      expect(remoteEvent(item, { email })?.start).toEqual({ dateTime, timeZone })
    },
  )

  it('all-day events, at midnight in UTC or in their own zone', () => {
    const zone = { originalStartTimeZone: 'India Standard Time', originalEndTimeZone: 'India Standard Time' }
    const allDay = { ...single, ...zone, isAllDay: true }
    const dates = { start: { date: '2026-10-02' }, end: { date: '2026-10-05' } }
    const item = { ...allDay, start: utc('2026-10-02T00:00:00'), end: utc('2026-10-05T00:00:00') }
    expect(remoteEvent(item, { email })).toMatchObject(dates)
    const shifted = { ...allDay, start: utc('2026-10-01T18:30:00'), end: utc('2026-10-04T18:30:00') }
    expect(remoteEvent(shifted, { email })).toMatchObject(dates)
  })

  const master = {
    ...single,
    id: 'AAMkADAGAADDdm4NAAA=',
    type: 'seriesMaster',
    subject: 'Daily stand-up',
    originalStartTimeZone: 'UTC',
    start: utc('2026-10-19T07:30:00'),
    end: utc('2026-10-19T08:00:00'),
    recurrence: {
      pattern: {
        type: 'weekly',
        interval: 1,
        month: 0,
        dayOfMonth: 0,
        daysOfWeek: ['monday'],
        firstDayOfWeek: 'sunday',
        index: 'first',
      },
      range: {
        type: 'noEnd',
        startDate: '2026-10-19',
        endDate: '0001-01-01',
        numberOfOccurrences: 0,
        recurrenceTimeZone: 'W. Europe Standard Time',
      },
    },
    cancelledOccurrences: ['OID.AAMkADAGAADDdm4NAAA=.2026-11-02'],
  }

  it('a series keeps its local time, also for cancelled instances', () => {
    const event = remoteEvent(master, { email })
    expect(event).toMatchObject({
      start: { dateTime: '2026-10-19T09:30:00', timeZone: 'Europe/Berlin' },
      recurrence: ['RRULE:FREQ=WEEKLY;BYDAY=MO;WKST=SU'],
      recurringEventId: null,
      originalStart: null,
    })
    const originalStart = { dateTime: '2026-11-02T09:30:00', timeZone: 'Europe/Berlin' }
    expect(event && cancelledInstances(master, event)).toMatchObject([
      {
        eventId: master.cancelledOccurrences[0],
        recurringEventId: master.id,
        status: 'cancelled',
        summary: 'Daily stand-up',
        start: originalStart,
        originalStart,
        recurrence: [],
        attendees: [],
      },
    ])
    const allDay = { ...master, isAllDay: true, start: utc('2026-10-19T00:00:00') }
    expect(event && cancelledInstances(allDay, event)[0]?.originalStart).toEqual({ date: '2026-11-02' })
    expect(event && cancelledInstances({ ...master, cancelledOccurrences: ['OID', 5] }, event)).toEqual([])
  })

  it('an exception refers to its series, also where Graph leaves out the members for that', () => {
    const exception = {
      ...single,
      id: 'AAMkADM0ZGRhMjdjLTA==',
      type: 'exception',
      iCalUId: 'another',
      start: utc('2026-10-27T12:00:00'),
      end: utc('2026-10-27T12:30:00'),
      originalStart: '2026-10-26T08:30:00Z',
    }
    const expected = {
      eventId: exception.id,
      iCalUid: master.iCalUId,
      recurringEventId: master.id,
      recurrence: [],
      originalStart: { dateTime: '2026-10-26T09:30:00', timeZone: 'Europe/Berlin' },
    }
    expect(remoteEvent(exception, { email, master })).toMatchObject(expected)
    const { originalStart: _, ...documented } = { ...exception, occurrenceId: `OID.${master.id}.2026-10-26` }
    expect(remoteEvent(documented, { email, master })).toMatchObject(expected)
  })

  it('an occurrence of the calendar view', () => {
    const occurrence = {
      ...single,
      type: 'occurrence',
      seriesMasterId: master.id,
      originalStart: '2026-03-15T20:00:00Z',
    }
    const event = remoteEvent(occurrence, { email })
    expect(event).toMatchObject({ recurringEventId: master.id, originalStart: event?.start, recurrence: [] })
  })

  it.each([
    [{ showAs: 'free' }, { busy: false }],
    [{ showAs: 'workingElsewhere' }, { busy: false }],
    [{ showAs: 'tentative' }, { busy: true, status: 'tentative' }],
    [{ showAs: 'oof' }, { busy: true, status: 'confirmed' }],
    [{ isCancelled: true }, { status: 'cancelled' }],
    [{ sensitivity: 'personal' }, { visibility: 'private' }],
    [{ sensitivity: 'confidential' }, { visibility: 'confidential' }],
    [{ isReminderOn: false }, { reminders: [] }],
    [{ onlineMeeting: null }, { conference: null }],
    [{ onlineMeeting: null, onlineMeetingUrl: 'javascript:alert(1)' }, { conference: null }],
    [{ body: { contentType: 'html', content: '<html><body><p>Hello&nbsp;<b>all</b></p></body></html>' } }, {}],
    [
      { organizer: null, attendees: null, location: null, body: null },
      { organizer: null, description: '' },
    ],
  ])('%j', (members, expected) => {
    const event = remoteEvent({ ...single, ...members }, { email })
    expect(event).toMatchObject(expected)
    if ('body' in members && members.body !== null) expect(event?.description).toBe('Hello\u00a0all')
  })

  it('not one without an id or a start', () => {
    expect(remoteEvent({ ...single, id: '' }, { email })).toBeUndefined()
    expect(remoteEvent({ ...single, start: { dateTime: 'soon' } }, { email })).toBeUndefined()
  })
})

describe('calendars of Graph', () => {
  const calendar = {
    id: 'AAMkAGI2TGuLAAA=',
    name: 'Team',
    color: 'lightBlue',
    hexColor: '',
    canEdit: true,
    canShare: false,
    isDefaultCalendar: false,
    owner: { name: 'Bob', address: 'bob@contoso.com' },
  }
  it.each([
    [{}, { role: 'writer', primary: false, backgroundColor: '#a6d1f5', summary: 'Team', selected: true }],
    [
      { canEdit: false, hexColor: '#A2D2FF' },
      { role: 'reader', backgroundColor: '#a2d2ff' },
    ],
    [
      { owner: { address: 'ADA@contoso.com' }, color: 'auto' },
      { role: 'owner', backgroundColor: null },
    ],
    [{ isDefaultCalendar: true }, { role: 'owner', primary: true, timeZone: null }],
  ])('%j', (members, expected) => {
    expect(
      remoteCalendar({ ...calendar, ...members }, { ownAddresses: new Set([email]), timeZone: null }),
    ).toMatchObject(expected)
  })
})
