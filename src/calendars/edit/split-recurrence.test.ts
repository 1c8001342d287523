import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { originalStartText } from '../api.ts'
import { expandSeries } from '../instances/instances.ts'
import { splitRecurrence } from './split-recurrence.ts'

const ZONE = 'Europe/Berlin'
const START = { dateTime: '2026-10-05T09:00:00', timeZone: ZONE }
const END = { dateTime: '2026-10-05T10:00:00', timeZone: ZONE }
const ALL = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2028, 0, 1) }

describe('a series that is divided at an instance', () => {
  it('has the same instances in two series, whatever repeats it', () => {
    const rule = fc.record({
      frequency: fc.constantFrom('DAILY', 'WEEKLY', 'MONTHLY', 'WEEKLY;BYDAY=MO,TH', 'MONTHLY;BYDAY=1MO'),
      interval: fc.integer({ min: 1, max: 3 }),
      end: fc.constantFrom('', ';COUNT=12', ';UNTIL=20261224T080000Z', ';COUNT=3'),
      isAllDay: fc.boolean(),
      at: fc.nat(),
    })
    fc.assert(
      fc.property(rule, ({ frequency, interval, end, isAllDay, at }) => {
        const start = isAllDay ? { date: '2026-10-05' } : START
        const lastDay = isAllDay ? { date: '2026-10-06' } : END
        const lines = [
          `RRULE:FREQ=${frequency};INTERVAL=${interval}${isAllDay ? end.replace(/T\d+Z/, '') : end}`,
          ...(isAllDay
            ? ['EXDATE;VALUE=DATE:20261012', 'RDATE;VALUE=DATE:20261108,20261225']
            : [`EXDATE;TZID=${ZONE}:20261012T090000`, 'RDATE:20261108T110000Z,20261225T110000Z']),
        ]
        const instances = (first: typeof start, last: typeof lastDay, recurrence: string[]) =>
          expandSeries({ start: first, end: last, recurrence, exceptions: [] }, ZONE, ALL)
        const whole = instances(start, lastDay, lines)
        const chosen = whole[1 + (at % (whole.length - 1))]
        if (chosen === undefined) throw new Error('a series of one instance')
        const split = () => splitRecurrence(lines, start, originalStartText(chosen.originalStart), ZONE)
        const byRule = instances(start, lastDay, lines.slice(0, 1))
        const isExtra = !byRule.some(({ startMs }) => startMs === chosen.startMs)
        if (isExtra && byRule.some(({ startMs }) => startMs > chosen.startMs)) {
          expect(split).toThrow('extra date')
          return
        }
        const { before, after } = split()
        const local = (ms: number) =>
          new Date(ms + (new Date(ms) < new Date('2026-10-25T01:00:00Z') || isSummer(ms) ? 2 : 1) * 3_600_000)
            .toISOString()
            .slice(0, 19)
        const second = isAllDay
          ? [{ date: String(chosen.originalStart) }, { date: dayAfter(String(chosen.originalStart)) }]
          : [
              { dateTime: local(chosen.startMs), timeZone: ZONE },
              { dateTime: local(chosen.endMs), timeZone: ZONE },
            ]
        const [from, to] = second as [typeof start, typeof lastDay]
        const both = [...instances(start, lastDay, before), ...instances(from, to, after)]
        expect(both.map(({ startMs }) => startMs)).toEqual(whole.map(({ startMs }) => startMs))
      }),
      { numRuns: 60 },
    )
  })
})

function isSummer(ms: number): boolean {
  return ms >= Date.parse('2027-03-28T01:00:00Z') && ms < Date.parse('2027-10-31T01:00:00Z')
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
}
