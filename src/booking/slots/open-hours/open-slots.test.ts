import { IANAZone } from 'luxon'
import { describe, expect, it } from 'vitest'
import { experienceWith } from '../../../../test/kit/booking/experience.ts'
import { bookableMinutes, type OracleHost } from '../../../../test/kit/booking/slot-oracle.ts'
import { fc, random } from '../../../../test/kit/random/random.ts'
import type { Availability } from '../../experiences/experience.ts'
import { type Rules, readRules } from '../slot-rules.ts'
import { freeSlots, type Grid, type HostTimes, openStarts } from './open-slots.ts'

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60
const ZONES = [
  'Africa/Cairo',
  'Asia/Beirut',
  'America/Santiago',
  'America/Havana',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Europe/Berlin',
  'America/New_York',
]
const RUNS_PER_TRANSITION = 3
/** Minutes around a transition, so that all runs of it share their wall clocks. */
const RANGE = { before: 30 * 60, after: 36 * 60 }

/** The clock changes of three years, in minutes. */
function findTransitions(zone: string): number[] {
  const offsetAt = (minute: number) => IANAZone.create(zone).offset(minute * MINUTE_MS)
  const found: number[] = []
  const end = Date.UTC(2026, 0, 1) / MINUTE_MS
  for (let minute = Date.UTC(2023, 0, 1) / MINUTE_MS; minute < end; minute += 60) {
    if (offsetAt(minute) !== offsetAt(minute - 60)) found.push(minute)
  }
  return found
}

const clock = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
/** Often near the hours that clocks change. */
const start = fc
  .oneof(fc.constantFrom(0, 30, 90, 105, 120, 150, 165, 180, 1380, 1410), fc.integer({ min: 0, max: 1439 }))
  .map(clock)
const end = fc
  .oneof(fc.constantFrom(0, 60, 120, 150, 180, 195, 225, 1410, 1440), fc.integer({ min: 0, max: 1440 }))
  .map(clock)
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const minutes = (max: number) => fc.integer({ min: 0, max })
const days = fc.oneof(
  fc.constant<(number | string)[]>([0, 1, 2, 3, 4, 5, 6]),
  fc.uniqueArray(fc.constantFrom<(number | string)[]>(0, 1, 2, 3, 4, 5, 6, 'friday', 'saturday', 'sunday'), {
    minLength: 1,
  }),
)

function availability(dates: readonly string[]): fc.Arbitrary<Availability> {
  const date = fc.constantFrom(...dates)
  return fc
    .record({
      openHours: fc.array(fc.record({ days, start, end, timezone: optional(fc.constantFrom(...ZONES)) }), {
        minLength: 1,
        maxLength: 3,
      }),
      overrides: fc.array(fc.record({ date, start, end, closed: fc.boolean() }), { maxLength: 2 }),
      bufferBeforeMinutes: fc.oneof(fc.constant(0), minutes(60)),
      bufferAfterMinutes: fc.oneof(fc.constant(0), minutes(60)),
      minimumNoticeMinutes: fc.oneof(fc.constant(0), minutes(2000)),
      maximumDaysAhead: optional(fc.integer({ min: 1, max: 4 })),
      intervalMinutes: optional(fc.integer({ min: 5, max: 60 })),
      assignment: fc.constantFrom('collective' as const, 'round_robin' as const),
    })
    .map(({ maximumDaysAhead, intervalMinutes, openHours, ...rest }) => ({
      ...rest,
      openHours: openHours.map(({ timezone, ...hours }) => ({ ...hours, ...(timezone !== undefined && { timezone }) })),
      ...(maximumDaysAhead !== undefined && { maximumDaysAhead }),
      ...(intervalMinutes !== undefined && { intervalMinutes }),
    }))
}

/** A host whose day is mostly free, with times in minutes after `from`. */
function host(from: number, dates: readonly string[]): fc.Arbitrary<Omit<OracleHost, 'hostId'>> {
  const at = minutes(RANGE.before + RANGE.after).map((offset) => from + offset)
  const length = fc.oneof(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 1, max: 600 }))
  const busy = fc.record({ from: at, length }).map((range) => ({ from: range.from, to: range.from + range.length }))
  const block = fc
    .record({ start: at, length, before: minutes(90), after: minutes(90) })
    .map(({ start, length, ...buffers }) => ({ start, end: start + length, ...buffers }))
  return fc.record({
    busy: fc.array(busy, { maxLength: 4 }),
    blocks: fc.array(block, { maxLength: 3 }),
    fullDates: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      fc.constantFrom(...dates).map((date) => [date]),
    ),
  })
}

function hostTimes({ hostId, busy, blocks, fullDates }: OracleHost): HostTimes {
  const ms = (minute: number) => minute * MINUTE_MS
  return {
    hostId,
    busy: busy.map(({ from, to }) => ({ from: ms(from), to: ms(to) })),
    blocks: blocks.map(({ start, end, before, after }) => ({
      startMs: ms(start),
      endMs: ms(end),
      blockedFrom: ms(start - before),
      blockedTo: ms(end + after),
    })),
    fullDates: new Set(fullDates),
  }
}

async function find(rules: Rules, grid: Grid, nowMs: number, hosts: readonly HostTimes[]) {
  return freeSlots(rules, openStarts(rules, grid, nowMs), grid.lengthMs, hosts)
}

describe('slots', () => {
  it.each(ZONES)('are listed if and only if they can be booked, around every clock change of %s', async (timezone) => {
    const transitions = findTransitions(timezone)
    expect(transitions).toHaveLength(6)
    // Every transition gets its own examples.
    const next = random()
    let listed = 0
    for (const transition of transitions) {
      const [from, to] = [transition - RANGE.before, transition + RANGE.after]
      const dates = [-1, 0, 1].map((day) =>
        new Date((transition + day * DAY_MINUTES) * MINUTE_MS).toISOString().slice(0, 10),
      )
      const property = fc.asyncProperty(
        availability(dates),
        fc.array(host(from, dates), { minLength: 1, maxLength: 3 }),
        fc.oneof(fc.constantFrom(15, 30, 45, 60), fc.integer({ min: 5, max: 200 })),
        optional(fc.integer({ min: 1, max: 4 })),
        fc.integer({ min: -3 * DAY_MINUTES * 60, max: 60 * 60 }),
        fc.array(minutes(to - from), { minLength: 20, maxLength: 20 }),
        async (availability, unnamed, length, multiple, nowSeconds, samples) => {
          const hosts = unnamed.map((host, index) => ({ ...host, hostId: `acc_${index}` }))
          const now = from + nowSeconds / 60
          const question = { availability, timezone, hosts, from, to, now, length }
          const rules = readRules(experienceWith(availability, { timezone, hosts: hosts.map(({ hostId }) => hostId) }))
          const times = hosts.map(hostTimes)
          const step = availability.intervalMinutes ?? length
          const lengthMs = length * MINUTE_MS
          const range = { from: from * MINUTE_MS, to: to * MINUTE_MS }

          // Lists contain what the oracle finds, also with another step.
          const steps = [step, multiple === undefined ? step : multiple * (availability.intervalMinutes ?? 5)]
          for (const each of steps) {
            const slots = await find(rules, { range, lengthMs, stepMs: each * MINUTE_MS }, now * MINUTE_MS, times)
            const expected = bookableMinutes({ ...question, step: each })
            expect(slots.map(({ start, free }) => [start / MINUTE_MS, free])).toEqual([...expected])
            listed += slots.length
          }

          // A single slot can be booked if and only if a list contains it.
          const bookable = bookableMinutes({ ...question, step: availability.intervalMinutes })
          const some = [...bookable.keys()].filter((_, index) => index % 7 === 0).slice(0, 20)
          for (const minute of [
            ...some,
            ...some.map((minute) => minute + 1),
            ...samples.map((offset) => from + offset),
          ]) {
            if (minute + length > to) continue
            const own = { from: minute * MINUTE_MS, to: minute * MINUTE_MS + lengthMs }
            const found = await find(rules, { range: own, lengthMs, stepMs: rules.stepMs }, now * MINUTE_MS, times)
            const hosts = bookable.get(minute)
            expect(found).toEqual(hosts === undefined ? [] : [{ start: own.from, free: hosts }])
          }
        },
      )
      await fc.assert(property, { numRuns: RUNS_PER_TRANSITION, seed: Math.floor(next() * 2 ** 31) })
    }
    // Most random experiences have slots.
    expect(listed).toBeGreaterThan(100)
  })

  it('keep the larger of two buffers between two meetings', async () => {
    const availability = { overrides: [{ date: '2026-11-23', start: '09:00', end: '12:00' }] }
    const at = (text: string) => Date.parse(`2026-11-23T${text}:00Z`)
    const block = { startMs: at('10:00'), endMs: at('10:30'), blockedFrom: at('09:50'), blockedTo: at('10:40') }
    const starts = async (buffers: Availability) => {
      const rules = readRules(experienceWith({ ...availability, ...buffers }, { timezone: 'UTC' }))
      const grid = { range: { from: at('00:00'), to: at('23:59') }, lengthMs: 20 * MINUTE_MS, stepMs: 5 * MINUTE_MS }
      const hosts = [{ hostId: 'acc_1', busy: [], blocks: [block], fullDates: new Set<string>() }]
      const found = await find(rules, grid, at('00:00'), hosts)
      return found.map(({ start }) => new Date(start).toISOString().slice(11, 16))
    }
    const around = (all: string[]) => [all.findLast((start) => start < '10:00'), all.find((start) => start > '10:00')]
    // The ten minutes of the other meeting.
    expect(around(await starts({}))).toEqual(['09:30', '10:40'])
    expect(around(await starts({ bufferBeforeMinutes: 5, bufferAfterMinutes: 5 }))).toEqual(['09:30', '10:40'])
    // The larger ones of this one.
    expect(around(await starts({ bufferBeforeMinutes: 25, bufferAfterMinutes: 15 }))).toEqual(['09:25', '10:55'])
  })
})
