import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { OBJECTS, type OddObject, SERIES, ZONES } from '../../../../test/calendars/odd-objects.ts'
import { eventsOf } from '../../../providers/caldav/map.ts'
import { ObjectZones } from '../../../providers/caldav/zones.ts'
import type { RemoteEvent } from '../../../providers/contract/index.ts'
import { instanceRows } from '../instance-rows.ts'

const WINDOW = { from: Date.parse('2027-01-01T00:00:00Z'), to: Date.parse('2028-01-01T00:00:00Z') }

/** What the object means in 2027, in the form of the table. */
async function timesOf({ text, zone }: Pick<OddObject, 'text' | 'zone'>, zones = new ObjectZones()): Promise<string[]> {
  const events = await eventsOf({ path: '/c/1.ics', etag: null, text }, { zones, addresses: new Set() })
  return timesIn(events, zone)
}

function timesIn(events: readonly RemoteEvent[], timeZone: string): string[] {
  const row = (event: RemoteEvent) => ({ id: event.eventId, content: JSON.stringify(event) })
  const rows = events.flatMap((event) => {
    const exceptions = events.filter(({ recurringEventId }) => recurringEventId === event.eventId).map(row)
    return instanceRows(row(event), exceptions, { id: 'cal_1', timeZone }, WINDOW)
  })
  const text = (ms: number) => new Date(ms).toISOString().replace(':00.000Z', 'Z')
  return rows
    .sort((left, right) => left.startMs - right.startMs)
    .map(({ startMs, endMs, isBusy }) => `${text(startMs)}/${text(endMs)}${isBusy ? '' : ' free'}`)
}

describe('odd calendar objects', () => {
  it.each(ZONES)('zones: $name', async (object) => {
    expect(await timesOf(object)).toEqual(object.expected)
  })

  it.each(SERIES)('series: $name', async (object) => {
    expect(await timesOf(object)).toEqual(object.expected)
  })

  it.each(OBJECTS)('objects: $name', async (object) => {
    expect(await timesOf(object)).toEqual(object.expected)
  })

  it('stay busy to the end of the window, each hour, without an end', async () => {
    const text = readFileSync('test/calendars/odd/hourly-for-ever.ics', 'utf8')
    const times = await timesOf({ text, zone: 'Europe/Berlin' })
    expect(times).toHaveLength(365 * 24)
    expect(times[0]).toBe('2027-01-01T00:00Z/2027-01-01T00:10Z')
    expect(times).toContain('2027-06-05T05:00Z/2027-06-05T05:10Z')
    expect(times.at(-1)).toBe('2027-12-31T23:00Z/2027-12-31T23:10Z')
  })

  it('are busy until the end of the window where they have more instances than can be computed', async () => {
    const text = readFileSync('test/calendars/odd/hourly-for-ever.ics', 'utf8').replace('HOURLY', 'SECONDLY')
    const times = await timesOf({ text, zone: 'Europe/Berlin' })
    expect(times.length).toBeLessThan(13_000)
    expect(times.at(-1)).toMatch(/\/2028-01-01T00:00Z$/)
  })

  it('may come after a later event in the same zone, which was like a zone of the world since then', async () => {
    const zones = new ObjectZones()
    const objectAt = (day: string) =>
      [
        ...['BEGIN:VCALENDAR', 'BEGIN:VTIMEZONE', 'TZID:Ship', 'BEGIN:STANDARD', 'DTSTART:20270601T000000'],
        ...['TZOFFSETFROM:+0100', 'TZOFFSETTO:-0700', 'END:STANDARD', 'END:VTIMEZONE', 'BEGIN:VEVENT', 'UID:1'],
        ...[`DTSTART;TZID=Ship:${day}T120000`, 'DURATION:PT1H', 'END:VEVENT', 'END:VCALENDAR'],
      ].join('\r\n')
    const timesAt = (day: string) => timesOf({ text: objectAt(day), zone: 'Europe/Berlin' }, zones)
    expect(await timesAt('20270901')).toEqual(['2027-09-01T19:00Z/2027-09-01T20:00Z'])
    expect(await timesAt('20270201')).toEqual(['2027-02-01T11:00Z/2027-02-01T12:00Z'])
  })

  it('may have any number of zones of their own in one calendar', async () => {
    const zones = new ObjectZones()
    for (let index = 0; index < 60; index += 1) {
      const minutes = 60 + 15 * (index % 12)
      const offset = `+${String(Math.floor(minutes / 60)).padStart(2, '0')}${String(minutes % 60).padStart(2, '0')}`
      const day = String(1 + (index % 28)).padStart(2, '0')
      const text = [
        ...['BEGIN:VCALENDAR', 'BEGIN:VTIMEZONE', `TZID:Werk ${index}`, 'BEGIN:STANDARD', 'DTSTART:19700101T000000'],
        ...[`TZOFFSETFROM:${offset}`, `TZOFFSETTO:${offset}`, 'END:STANDARD', 'END:VTIMEZONE', 'BEGIN:VEVENT', 'UID:1'],
        ...[`DTSTART;TZID=Werk ${index}:202708${day}T120000`, 'DURATION:PT30M', 'END:VEVENT', 'END:VCALENDAR'],
      ].join('\r\n')
      const startMs = Date.parse(`2027-08-${day}T12:00:00Z`) - minutes * 60_000
      const [start, end] = [startMs, startMs + 30 * 60_000].map((ms) => new Date(ms).toISOString().slice(0, 16))
      expect(await timesOf({ text, zone: 'Europe/Berlin' }, zones)).toEqual([`${start}Z/${end}Z`])
    }
  })
})
