import { describe, expect, it } from 'vitest'
import { spentCpuMs } from '../../../test/kit/measure/event-loop.ts'
import { parseObject } from './components.ts'
import { formatObject } from './formatting.ts'
import { describeOwnZone, type OwnZone, ownOffsets, ownZoneText, parseOwnZone, readOwnZone } from './read-vtimezone.ts'
import { findZone, storedZone } from './zone.ts'

const observance = (kind: string, ...lines: string[]) => [`BEGIN:${kind}`, ...lines, `END:${kind}`]

function described(...lines: string[]): OwnZone {
  const text = ['BEGIN:VCALENDAR', 'BEGIN:VTIMEZONE', 'TZID:Works', ...lines, 'END:VTIMEZONE', 'END:VCALENDAR'].join(
    '\r\n',
  )
  const [component] = parseObject(text)?.components ?? []
  const zone = component && readOwnZone(component)
  if (zone === undefined) throw new Error('not a zone')
  return zone
}

/** The rules of the United States since 1967, as RFC 5545 writes them. */
const NEW_YORK = described(
  ...observance(
    'DAYLIGHT',
    'DTSTART:19670430T020000',
    'RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=-1SU;UNTIL=19730429T070000Z',
    'TZOFFSETFROM:-0500',
    'TZOFFSETTO:-0400',
  ),
  ...observance(
    'STANDARD',
    'DTSTART:19671029T020000',
    'RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20061029T060000Z',
    'TZOFFSETFROM:-0400',
    'TZOFFSETTO:-0500',
  ),
  ...observance(
    'DAYLIGHT',
    'DTSTART:19740106T020000',
    'RDATE:19750223T020000',
    'TZOFFSETFROM:-0500',
    'TZOFFSETTO:-0400',
  ),
  ...observance(
    'DAYLIGHT',
    'DTSTART:19760425T020000',
    'RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=-1SU;UNTIL=19860427T070000Z',
    'TZOFFSETFROM:-0500',
    'TZOFFSETTO:-0400',
  ),
  ...observance(
    'DAYLIGHT',
    'DTSTART:19870405T020000',
    'RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20060402T070000Z',
    'TZOFFSETFROM:-0500',
    'TZOFFSETTO:-0400',
  ),
  ...observance(
    'DAYLIGHT',
    'DTSTART:20070311T020000',
    'RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU',
    'TZOFFSETFROM:-0500',
    'TZOFFSETTO:-0400',
  ),
  ...observance(
    'STANDARD',
    'DTSTART:20071104T020000',
    'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU',
    'TZOFFSETFROM:-0400',
    'TZOFFSETTO:-0500',
  ),
)

describe('a zone of an object', () => {
  it('has the offsets that RFC 5545 describes for New York', () => {
    const read = ownOffsets(NEW_YORK)
    const expected = findZone('America/New_York')
    for (let at = Date.UTC(1968, 0, 1); at < Date.UTC(2040, 0, 1); at += 5 * 86_400_000 + 3_600_000) {
      expect([new Date(at).toISOString(), read(at)]).toEqual([new Date(at).toISOString(), expected?.readOffset(at)])
    }
  })

  it('keeps the last offset of rules that end, also by COUNT', () => {
    const read = ownOffsets(
      described(
        ...observance(
          'DAYLIGHT',
          'DTSTART:20000401T020000',
          'RRULE:FREQ=YEARLY;COUNT=3',
          'TZOFFSETFROM:+0100',
          'TZOFFSETTO:+0200',
        ),
        ...observance(
          'STANDARD',
          'DTSTART:20001001T020000',
          'RRULE:FREQ=YEARLY;UNTIL=20011001T000000Z',
          'TZOFFSETFROM:+0200',
          'TZOFFSETTO:+0100',
        ),
      ),
    )
    const hoursAt = (text: string) => read(Date.parse(text)) / 3_600_000
    expect(['1999-07-01', '2000-07-01', '2001-12-01', '2002-07-01', '2030-01-01'].map(hoursAt)).toEqual([1, 2, 1, 2, 2])
  })

  it('is written as it was read, and can be stored as a text', () => {
    const text = ownZoneText(NEW_YORK)
    expect(parseOwnZone(text)).toEqual(NEW_YORK)
    expect(parseOwnZone('Europe/Berlin')).toBeUndefined()
    const written = formatObject({ name: 'VCALENDAR', lines: [], components: [describeOwnZone(NEW_YORK)] })
    const [component] = parseObject(written)?.components ?? []
    expect(component && readOwnZone(component)).toEqual(NEW_YORK)
    expect(storedZone(text)?.toUtc(Date.UTC(2027, 6, 1, 12))).toBe(Date.UTC(2027, 6, 1, 16))
    expect(findZone(text)).toBeUndefined()
  })

  it('takes little time, whatever its rules are', async () => {
    const rules = [
      'FREQ=SECONDLY',
      'FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=1,2,3',
      'FREQ=YEARLY;BYDAY=MO,TU,WE,TH;UNTIL=99991231T000000Z',
    ]
    const hostile = described(
      ...Array.from({ length: 60 }, (_, index) =>
        observance(
          'STANDARD',
          'DTSTART:19000101T000000',
          `RRULE:${rules[index % 3]}`,
          'TZOFFSETFROM:+0100',
          'TZOFFSETTO:+0200',
        ),
      ).flat(),
    )
    // 20 ms is usual, and seconds without the limit.
    expect(await spentCpuMs(() => ownOffsets(hostile)(Date.UTC(2027, 0, 1)))).toBeLessThan(500)
  })
})
