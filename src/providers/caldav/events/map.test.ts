import { describe, expect, it } from 'vitest'
import { fc } from '../../../../test/kit/random/random.ts'
import { ownZoneText } from '../../../platform/calendar/read-vtimezone.ts'
import { mapEvents } from './map.ts'
import { ObjectZones } from './zones.ts'

const NEW_YORK = [
  'BEGIN:VTIMEZONE',
  'TZID:Office',
  'BEGIN:DAYLIGHT',
  'TZOFFSETFROM:-0500',
  'TZOFFSETTO:-0400',
  'DTSTART:20070311T020000',
  'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU',
  'END:DAYLIGHT',
  'BEGIN:STANDARD',
  'TZOFFSETFROM:-0400',
  'TZOFFSETTO:-0500',
  'DTSTART:20071104T020000',
  'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU',
  'END:STANDARD',
  'END:VTIMEZONE',
]

function mapped(text: string) {
  return mapEvents(
    { path: '/c/1.ics', etag: '"1"', text },
    { zones: new ObjectZones(), addresses: new Set(['ada@example.com']) },
  )
}

function calendar(...lines: string[]): string {
  return ['BEGIN:VCALENDAR', ...lines, 'END:VCALENDAR'].join('\r\n')
}

async function event(...lines: string[]) {
  const [first] = await mapped(calendar('BEGIN:VEVENT', 'UID:u1', ...lines, 'END:VEVENT'))
  return first
}

describe('mapEvents', () => {
  it('keeps commas and semicolons that a program did not escape', async () => {
    const text = await event(
      'DTSTART:20261120T120000Z',
      'SUMMARY:Planning, later; again',
      'LOCATION:Room 4, Bonn',
      'DESCRIPTION:a;b,c',
    )
    expect(text).toMatchObject({ summary: 'Planning, later; again', location: 'Room 4, Bonn', description: 'a;b,c' })
  })

  it('maps every field', async () => {
    const found = await event(
      'SUMMARY:Lunch\\, with \\"Zo',
      ' \u00eb\\"\\; and\\nothers',
      'DESCRIPTION:First\\nSecond \\\\ third',
      'LOCATION;LANGUAGE=en:Caf\u00e9',
      'DTSTART;TZID=Europe/Berlin:20261120T120000',
      'DTEND;TZID="Europe/Berlin":20261120T130000',
      'STATUS:TENTATIVE',
      'TRANSP:TRANSPARENT',
      'CLASS:PRIVATE',
      'CREATED:20261101T100000Z',
      'LAST-MODIFIED:20261102T100000Z',
      'ORGANIZER;CN="Bob; the boss":mailto:bob@example.com',
      'ATTENDEE;CN=Bob;PARTSTAT=ACCEPTED:mailto:Bob@example.com',
      'ATTENDEE;PARTSTAT=DECLINED;ROLE=OPT-PARTICIPANT:MAILTO:Ada@Example.com',
      'ATTENDEE;EMAIL=zoe@example.com;CN=Zoe:urn:uuid:1234',
      'X-GOOGLE-CONFERENCE:https://meet.example.com/abc',
      'BEGIN:VALARM',
      'ACTION:DISPLAY',
      'TRIGGER:-PT15M',
      'END:VALARM',
      'BEGIN:VALARM',
      'ACTION:EMAIL',
      'TRIGGER;RELATED=START:-P1D',
      'END:VALARM',
    )
    expect(found).toEqual({
      eventId: '/c/1.ics',
      iCalUid: 'u1',
      etag: '"1"',
      status: 'tentative',
      summary: 'Lunch, with \\"Zo\u00eb\\"; and others',
      description: 'First\nSecond \\ third',
      location: 'Caf\u00e9',
      start: { dateTime: '2026-11-20T12:00:00', timeZone: 'Europe/Berlin' },
      end: { dateTime: '2026-11-20T13:00:00', timeZone: 'Europe/Berlin' },
      recurrence: [],
      recurringEventId: null,
      originalStart: null,
      busy: false,
      visibility: 'private',
      organizer: person('Bob@example.com', { displayName: 'Bob', responseStatus: 'accepted', organizer: true }),
      attendees: [
        person('Bob@example.com', { displayName: 'Bob', responseStatus: 'accepted', organizer: true }),
        person('Ada@Example.com', { responseStatus: 'declined', optional: true, self: true }),
        person('zoe@example.com', { displayName: 'Zoe' }),
      ],
      conference: { type: 'hangoutsMeet', url: 'https://meet.example.com/abc' },
      reminders: [
        { method: 'popup', minutes: 15 },
        { method: 'email', minutes: 1440 },
      ],
      htmlLink: null,
      createdAt: Date.parse('2026-11-01T10:00:00Z'),
      updatedAt: Date.parse('2026-11-02T10:00:00Z'),
    })
  })

  it.each([
    [['DTSTART;VALUE=DATE:20261120'], '2026-11-21'],
    [['DTSTART;VALUE=DATE:20261120', 'DTEND;VALUE=DATE:20261120'], '2026-11-21'],
    [['DTSTART;VALUE=DATE:20261120', 'DURATION:P1W'], '2026-11-27'],
    [['DTSTART;VALUE=DATE:20261120', 'DTEND:20261123T000000Z'], '2026-11-23'],
    [['DTSTART:20261120T100000Z'], '2026-11-20T10:00:00'],
    [['DTSTART:20261120T100000Z', 'DTEND:20261119T100000Z'], '2026-11-20T10:00:00'],
    [['DTSTART:20261120T100000Z', 'DURATION:PT1H30M'], '2026-11-20T11:30:00'],
    // A day of the wall clock is 23 hours when clocks go forward; 24 hours are not (RFC 5545, 3.3.6).
    [['DTSTART;TZID=Europe/Berlin:20260328T120000', 'DURATION:P1D'], '2026-03-29T12:00:00'],
    [['DTSTART;TZID=Europe/Berlin:20260328T120000', 'DURATION:PT24H'], '2026-03-29T13:00:00'],
    [['DTSTART:20261120T100000', 'DTEND;VALUE=DATE:20261121'], '2026-11-21T00:00:00'],
  ])('ends %j at %s', async (lines, end) => {
    expect(Object.values((await event(...lines))?.end ?? {})).toContain(end)
  })

  it('finds the zone that a VTIMEZONE describes, and gives recurrence lines IANA zones', async () => {
    const [found] = await mapped(
      calendar(
        ...NEW_YORK,
        'BEGIN:VEVENT',
        'UID:u1',
        'DTSTART;TZID=Office:20261023T100000',
        'DTEND;TZID=Office:20261023T110000',
        'RRULE:FREQ=WEEKLY',
        'EXDATE;TZID=Office:20261030T100000',
        'EXDATE;TZID=Office:20261106T100000,20261113T100000',
        'EXDATE;VALUE=DATE:20261120',
        'RDATE;TZID=W. Europe Standard Time:20261201T100000',
        'END:VEVENT',
      ),
    )
    expect(found?.start).toEqual({ dateTime: '2026-10-23T10:00:00', timeZone: 'America/New_York' })
    expect(found?.recurrence).toEqual([
      'RRULE:FREQ=WEEKLY',
      'RDATE;TZID=Europe/Berlin:20261201T100000',
      'EXDATE;TZID=America/New_York:20261030T100000,20261106T100000,20261113T100000',
      'EXDATE;VALUE=DATE:20261120',
    ])
  })

  it('keeps the description where no zone is like it, and gives floating times where there is none', async () => {
    const own = ['BEGIN:VTIMEZONE', 'TZID:Ship', 'BEGIN:STANDARD', 'DTSTART:19700101T000000', 'TZOFFSETFROM:+0017']
    const [ship] = await mapped(
      calendar(
        ...own,
        'TZOFFSETTO:+0017',
        'END:STANDARD',
        'END:VTIMEZONE',
        'BEGIN:VEVENT',
        'UID:1',
        'DTSTART;TZID=Ship:20261120T100000',
        'END:VEVENT',
      ),
    )
    const described = { onsets: ['1970-01-01T00:00:00'], before: 1020, offset: 1020, rule: null }
    const timeZone = ownZoneText({ tzid: 'Ship', observances: [described] })
    expect(ship?.start).toEqual({ dateTime: '2026-11-20T10:00:00', timeZone })
    expect((await event('DTSTART;TZID=Elsewhere:20261120T100000'))?.start).toEqual({
      dateTime: '2026-11-20T10:00:00',
      timeZone: null,
    })
  })

  it('gives exceptions the path of the object with their original start, also without a master', async () => {
    const exception = (...lines: string[]) => ['BEGIN:VEVENT', 'UID:u1', ...lines, 'END:VEVENT']
    const found = await mapped(
      calendar(
        ...exception('RECURRENCE-ID;TZID=Europe/Berlin:20261109T090000', 'DTSTART;TZID=Europe/Berlin:20261110T150000'),
        ...exception('RECURRENCE-ID:20261109T080000Z', 'DTSTART:20261110T150000Z', 'SUMMARY:the same again'),
        ...exception('RECURRENCE-ID;VALUE=DATE:20261116', 'DTSTART;VALUE=DATE:20261117', 'STATUS:CANCELLED'),
        ...exception('RECURRENCE-ID:20261118T100000', 'DTSTART:20261118T110000'),
      ),
    )
    expect(found.map(({ eventId, recurringEventId }) => [eventId, recurringEventId])).toEqual([
      ['/c/1.ics#20261109T080000Z', '/c/1.ics'],
      ['/c/1.ics#20261116', '/c/1.ics'],
      ['/c/1.ics#20261118T100000', '/c/1.ics'],
    ])
    expect(found[1]).toMatchObject({ status: 'cancelled', originalStart: { date: '2026-11-16' } })
  })

  it.each([
    '',
    'BEGIN:VCALENDAR',
    'BEGIN:VEVENT\r\nDTSTART:20261120T100000Z\r\nEND:VEVENT',
    calendar('BEGIN:VTODO', 'UID:1', 'DTSTART:20261120T100000Z', 'END:VTODO'),
    calendar('BEGIN:VEVENT', 'UID:1', 'END:VEVENT'),
    calendar('BEGIN:VEVENT', 'UID:1', 'DTSTART:soon', 'END:VEVENT'),
    calendar('BEGIN:VEVENT', 'UID:1', 'DTSTART;TZID=":20261120T100000Z', 'END:VEVENT'),
    calendar(...Array.from({ length: 50 }, () => 'BEGIN:VEVENT')),
    calendar('BEGIN:VEVENT', 'DTSTART:20261120T100000Z', `DESCRIPTION:${'x'.repeat(1024 * 1024)}`, 'END:VEVENT'),
  ])('finds no event in %#', async (text) => {
    expect(await mapped(text)).toEqual([])
  })

  it('limits what an object may contain', async () => {
    const people = Array.from({ length: 5000 }, (_, at) => `ATTENDEE:mailto:a${at}@example.com`)
    expect((await event('DTSTART:20261120T100000Z', ...people))?.attendees).toHaveLength(1000)
    const exceptions = Array.from({ length: 5000 }, (_, at) => [
      'BEGIN:VEVENT',
      'UID:1',
      `RECURRENCE-ID:20261120T${String(at % 24).padStart(2, '0')}${String(at % 60).padStart(2, '0')}00Z`,
      'DTSTART:20261120T100000Z',
      'END:VEVENT',
    ])
    expect((await mapped(calendar(...exceptions.flat()))).length).toBeLessThanOrEqual(2000)
  })

  it('never throws, whatever the object says', async () => {
    const word = fc.constantFrom(
      'BEGIN:VEVENT',
      'END:VEVENT',
      'BEGIN:VTIMEZONE',
      'TZID:',
      'DTSTART',
      'DTEND',
      'RECURRENCE-ID',
      'RRULE:FREQ=',
      'EXDATE',
      ';TZID=',
      ';VALUE=DATE',
      ':20261120',
      ':20261120T100000',
      'Z',
      ':99999999T999999',
      '\r\n',
      '\n ',
      ';',
      ',',
      '"',
      ':',
      '=',
      'TRIGGER:-PT',
      'DURATION:P1D',
      'ORGANIZER',
      'mailto:',
      '\\',
      '\u0000',
      '\ud800',
    )
    const lines = fc.array(
      fc.array(word, { maxLength: 8 }).map((words) => words.join('')),
      { maxLength: 20 },
    )
    await fc.assert(
      fc.asyncProperty(lines, async (lines) => {
        const text = calendar('BEGIN:VEVENT', 'UID:1', 'DTSTART:20261120T100000Z', ...lines, 'END:VEVENT')
        for (const { start, end } of await mapped(text))
          expect([typeof start, typeof end]).toEqual(['object', 'object'])
      }),
      { numRuns: 300 },
    )
  })
})

function person(email: string, rest: object) {
  return {
    email,
    displayName: '',
    responseStatus: 'needsAction',
    optional: false,
    organizer: false,
    self: false,
    ...rest,
  }
}
