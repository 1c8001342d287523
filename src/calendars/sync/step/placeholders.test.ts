import { expect, it } from 'vitest'
import { DAY_MS } from '../../../platform/calendar/days.ts'
import { mayBeDays, placeholderTimes, type RemoteEvent, type TimeRange } from '../../../providers/contract/index.ts'
import { expandSeries } from '../../instances/instances.ts'
import { withStoredTimes } from './placeholders.ts'

const HOUR_MS = 3_600_000
const FIRST_MS = Date.UTC(2026, 10, 23)
const window = { from: 0, to: Date.UTC(2040, 0, 1) }
const placeholder = (...instances: TimeRange[]) =>
  ({ timesOnly: true, ...placeholderTimes(instances, instances.every(mayBeDays)) }) as RemoteEvent
const hours = (day: number, from: number, to: number) => ({
  from: FIRST_MS + day * DAY_MS + from * HOUR_MS,
  to: FIRST_MS + day * DAY_MS + to * HOUR_MS,
})

function busyTimes(stored: RemoteEvent, added: RemoteEvent, zone: string | null = 'Europe/Berlin'): TimeRange[] {
  const event = withStoredTimes(added, JSON.stringify(stored), zone)
  if (event === undefined) return []
  return expandSeries({ ...event, exceptions: [] }, zone, window).map(({ startMs, endMs }) => ({
    from: startMs,
    to: endMs,
  }))
}

it('keeps the length of each instance, and the later end of two with one start', () => {
  const stored = placeholder(hours(0, 9, 10), hours(1, 9, 12))
  const added = placeholder(hours(0, 9, 11), hours(2, 9, 9.5))
  expect(busyTimes(stored, added)).toEqual([hours(0, 9, 11), hours(1, 9, 12), hours(2, 9, 9.5)])
})

it('stores all-day instances as dates in the zone of the calendar', () => {
  const [stored, added] = [placeholder(hours(0, 0, 48)), placeholder(hours(7, 0, 24))]
  expect(stored).toMatchObject({ start: { date: '2026-11-23' }, recurrence: ['RDATE;VALUE=DATE:20261123'] })
  expect(busyTimes(stored, added)).toEqual([hours(0, -1, 47), hours(7, -1, 47)])
})

it('is busy in the days and in their hours in UTC when other instances are not all-day', () => {
  const [days, times] = [placeholder(hours(0, 0, 24)), placeholder(hours(200, -1, 23))]
  expect(busyTimes(days, times)).toEqual([hours(0, -1, 24), hours(200, -1, 23)])
  expect(busyTimes(times, days, 'America/New_York')).toEqual([hours(0, 0, 29), hours(200, -1, 23)])
  expect(busyTimes(days, times, null)).toEqual([hours(0, -14, 36), hours(200, -1, 23)])
})

it('keeps the latest of more than 1,000 instances', () => {
  const days = (first: number, count: number) => Array.from({ length: count }, (_, day) => hours(first + day, 9, 10))
  const busy = busyTimes(placeholder(...days(0, 900)), placeholder(...days(900, 300)))
  expect(busy).toEqual(days(200, 1000))
})

it('leaves a stored series as it is, and reads placeholders whose instances have no end', () => {
  const added = placeholder(hours(1, 9, 10))
  expect(withStoredTimes(added, JSON.stringify({ ...added, timesOnly: undefined }), null)).toBeUndefined()
  const old = { ...placeholder(hours(0, 9, 11)), recurrence: ['RDATE:20261123T090000Z,20261124T150000Z'] }
  expect(busyTimes(old, added)).toEqual([hours(0, 9, 11), hours(1, 9, 10), hours(1, 15, 17)])
})
