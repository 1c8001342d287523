import { describe, expect, it } from 'vitest'
import { ALL_DAY } from '../../../test/calendars/odd-events/all-day.ts'
import { AVAILABILITY } from '../../../test/calendars/odd-events/availability.ts'
import { EXCEPTIONS } from '../../../test/calendars/odd-events/exceptions.ts'
import { OBJECTS } from '../../../test/calendars/odd-events/objects.ts'
import { icsFile, type OddEvent, rangeText, USER } from '../../../test/calendars/odd-events/odd-event.ts'
import { PRIVATE_ZONES } from '../../../test/calendars/odd-events/private-zones.ts'
import { HOURLY, RULES, SKIPS } from '../../../test/calendars/odd-events/rules.ts'
import { TIMES } from '../../../test/calendars/odd-events/times.ts'
import { PARTLY_READABLE, UNREADABLE } from '../../../test/calendars/odd-events/unreadable.ts'
import { ZONE_NAMES } from '../../../test/calendars/odd-events/zone-names.ts'
import { mapEvents } from '../../providers/caldav/events/map.ts'
import { ObjectZones } from '../../providers/caldav/events/zones.ts'
import type { RemoteEvent } from '../../providers/contract/index.ts'
import { mapItems } from '../../providers/gmail/calendar/sync.ts'
import { mapUnit } from '../../providers/microsoft/calendar/series.ts'
import { list, object } from '../../providers/shared/rest/index.ts'
import { instanceRows } from '../instance-rows.ts'

type Mapping = (row: OddEvent) => Promise<RemoteEvent[]> | RemoteEvent[]

const caldav =
  (zones = new ObjectZones()): Mapping =>
  ({ ics = '' }) =>
    mapEvents({ path: '/c/1.ics', etag: null, text: ics }, { zones, addresses: new Set([USER]) })

const google: Mapping = ({ google = [], zone }) =>
  mapItems({
    items: google.map(object),
    next: undefined,
    syncToken: undefined,
    context: { timeZone: zone, defaultReminders: [] },
  }).found

const graph: Mapping = ({ graph, zone }) => {
  const item = object(graph)
  const unit = mapUnit(item, list(item.exceptionOccurrences).map(object), { email: USER, timeZone: zone })
  return unit === undefined ? [] : [unit.event, ...unit.exceptions]
}

/** When the events take place in the year, in the form of the table. */
function timesIn(events: readonly RemoteEvent[], { zone, year }: Pick<OddEvent, 'zone' | 'year'>): string[] {
  const window = { from: Date.UTC(year, 0, 1), to: Date.UTC(year + 1, 0, 1) }
  const row = (event: RemoteEvent) => ({ id: event.eventId, content: JSON.stringify(event) })
  return events
    .flatMap((event) => {
      const exceptions = events.filter(({ recurringEventId }) => recurringEventId === event.eventId).map(row)
      return instanceRows(row(event), exceptions, { id: 'cal_1', timeZone: zone }, window)
    })
    .sort((left, right) => left.startMs - right.startMs)
    .map(({ startMs, endMs, isBusy }) => `${rangeText(startMs, endMs)}${isBusy ? '' : ' free'}`)
}

const TABLES: [string, readonly OddEvent[]][] = [
  ['zone names', ZONE_NAMES],
  ['private zones', PRIVATE_ZONES],
  ['all-day', ALL_DAY],
  ['times', TIMES],
  ['rules', [...RULES, ...SKIPS, HOURLY]],
  ['exceptions', EXCEPTIONS],
  ['availability', AVAILABILITY],
  ['objects', OBJECTS],
  ['partly readable', PARTLY_READABLE],
]

const MAPPINGS: ['ics' | 'google' | 'graph', Mapping][] = [
  ['ics', caldav()],
  ['google', google],
  ['graph', graph],
]

describe.each(MAPPINGS)('odd events of %s', (form, map) => {
  const own = (rows: readonly OddEvent[]) => rows.filter((row) => row[form] !== undefined)
  const tables = TABLES.filter(([, rows]) => own(rows).length > 0)

  describe.each(tables)('%s', (_table, rows) => {
    it.each(own(rows))('$name', async (row) => {
      expect(timesIn(await map(row), row)).toEqual(row.expected)
    })
  })

  it.each(own(UNREADABLE))('without an event: $name', async (row) => {
    expect(await map(row)).toEqual([])
  })
})

describe('odd calendar objects', () => {
  it('are busy until the end of the window where they have more instances than can be computed', async () => {
    const row = { ...HOURLY, ics: icsFile('hourly-for-ever').replace('HOURLY', 'SECONDLY') }
    const times = timesIn(await caldav()(row), row)
    expect(times.length).toBeLessThan(13_000)
    expect(times.at(-1)).toMatch(/\/2028-01-01T00:00Z$/)
  })

  it('may come after a later event in the same zone, which was like a zone of the world since then', async () => {
    const map = caldav()
    const timesAt = async (day: string) => {
      const ics = [
        'BEGIN:VCALENDAR',
        'BEGIN:VTIMEZONE',
        'TZID:Ship',
        'BEGIN:STANDARD',
        'DTSTART:20270601T000000',
        'TZOFFSETFROM:+0100',
        'TZOFFSETTO:-0700',
        'END:STANDARD',
        'END:VTIMEZONE',
        'BEGIN:VEVENT',
        'UID:1',
        `DTSTART;TZID=Ship:${day}T120000`,
        'DURATION:PT1H',
        'END:VEVENT',
        'END:VCALENDAR',
      ].join('\r\n')
      return timesIn(await map({ ...HOURLY, ics }), HOURLY)
    }
    expect(await timesAt('20270901')).toEqual(['2027-09-01T19:00Z/2027-09-01T20:00Z'])
    expect(await timesAt('20270201')).toEqual(['2027-02-01T11:00Z/2027-02-01T12:00Z'])
  })

  it('may have any number of zones of their own in one calendar', async () => {
    const map = caldav()
    for (let index = 0; index < 60; index += 1) {
      const minutes = 60 + 15 * (index % 12)
      const offset = `+${String(Math.floor(minutes / 60)).padStart(2, '0')}${String(minutes % 60).padStart(2, '0')}`
      const day = String(1 + (index % 28)).padStart(2, '0')
      const ics = [
        'BEGIN:VCALENDAR',
        'BEGIN:VTIMEZONE',
        `TZID:Werk ${index}`,
        'BEGIN:STANDARD',
        'DTSTART:19700101T000000',
        `TZOFFSETFROM:${offset}`,
        `TZOFFSETTO:${offset}`,
        'END:STANDARD',
        'END:VTIMEZONE',
        'BEGIN:VEVENT',
        'UID:1',
        `DTSTART;TZID=Werk ${index}:202708${day}T120000`,
        'DURATION:PT30M',
        'END:VEVENT',
        'END:VCALENDAR',
      ].join('\r\n')
      const startMs = Date.parse(`2027-08-${day}T12:00:00Z`) - minutes * 60_000
      const row = { ...HOURLY, ics, expected: [rangeText(startMs, startMs + 30 * 60_000)] }
      expect(timesIn(await map(row), row)).toEqual(row.expected)
    }
  })
})
