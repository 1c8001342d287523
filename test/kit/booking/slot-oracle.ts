import { DateTime, IANAZone } from 'luxon'
import type { Availability, OpenHours } from '../../../src/booking/experiences/experience.ts'

/** A host in minutes since 1970. */
export interface OracleHost {
  hostId: string
  busy: readonly { from: number; to: number }[]
  blocks: readonly { start: number; end: number; before: number; after: number }[]
  fullDates: readonly string[]
}

/** The question to the oracle, in minutes since 1970. */
export interface OracleQuestion {
  availability: Availability
  timezone: string
  hosts: readonly OracleHost[]
  from: number
  to: number
  /** May be a fraction. */
  now: number
  length: number
  /** Undefined: any step of five minutes or more. */
  step: number | undefined
}

const DAY_MINUTES = 24 * 60
const MS_PER_DAY = DAY_MINUTES * 60_000
/** Around the range, so that the hours of the dates before and after it are known. */
const MARGIN = 3 * DAY_MINUTES
const NAMES = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** Which minutes of the range start a slot that can be booked, found by going through all minutes with luxon. */
export function bookableMinutes(question: OracleQuestion): Map<number, string[]> {
  const { availability, timezone, from, to, now, length, step } = question
  const zone = availability.timezone ?? timezone
  const first = from - MARGIN
  const count = to - from + 2 * MARGIN
  const isOpen = new Uint8Array(count)
  const begins = new Set<number>()
  for (const [begin, end] of intervals(availability, zone, first, count)) {
    if (end <= begin) continue
    begins.add(begin)
    isOpen.fill(1, begin, end)
  }
  const hosts = question.hosts.map((host) => takenMinutes(host, first, count))
  const { bufferBeforeMinutes: before = 0, bufferAfterMinutes: after = 0 } = availability
  const dates = wallClocks(zone, first, count).map((wall) => Math.floor(wall / DAY_MINUTES))
  const lastDate = Math.floor(toWall(zone, now) / DAY_MINUTES) + (availability.maximumDaysAhead ?? 10_000)
  const found = new Map<number, string[]>()
  let begin: number | undefined
  for (let index = 0; index < count; index += 1) {
    if (begins.has(index)) begin = index
    const minute = first + index
    if (begin === undefined || minute < from || minute + length > to) continue
    const offset = index - begin
    if (step === undefined ? offset > 0 && offset < 5 : offset % step !== 0) continue
    if (has(isOpen, 0, index, index + length)) continue
    if (minute < now + (availability.minimumNoticeMinutes ?? 0) || (dates[index] ?? 0) > lastDate) continue
    const free = hosts.filter(
      ({ busy, meetings, blocked, fullDays }) =>
        !has(busy, 1, index - before, index + length + after) &&
        !has(meetings, 1, index - before, index + length + after) &&
        !has(blocked, 1, index, index + length) &&
        !fullDays.includes(dates[index] ?? 0),
    )
    const isEnough = availability.assignment === 'round_robin' ? free.length > 0 : free.length === hosts.length
    if (isEnough)
      found.set(
        minute,
        free.map(({ hostId }) => hostId),
      )
  }
  return found
}

/** Whether one of these minutes has the value. */
function has(minutes: Uint8Array, value: 0 | 1, from: number, to: number): boolean {
  const index = minutes.indexOf(value, from)
  return index !== -1 && index < to
}

function takenMinutes(host: OracleHost, first: number, count: number) {
  const [busy, meetings, blocked] = [new Uint8Array(count), new Uint8Array(count), new Uint8Array(count)]
  const fill = (minutes: Uint8Array, from: number, to: number) =>
    minutes.fill(1, Math.max(0, from - first), Math.max(0, to - first))
  for (const { from, to } of host.busy) fill(busy, from, to)
  for (const { start, end, before, after } of host.blocks) {
    fill(meetings, start, end)
    fill(blocked, start - before, end + after)
  }
  const fullDays = host.fullDates.map((date) => DateTime.fromISO(date, { zone: 'utc' }).toMillis() / MS_PER_DAY)
  return { ...host, busy, meetings, blocked, fullDays }
}

/** As indexes of minutes. */
function* intervals(
  { openHours = [], overrides = [] }: Availability,
  zone: string,
  first: number,
  count: number,
): Generator<[number, number]> {
  const isOverridden = (date: string) => overrides.some((override) => override.date === date)
  for (const date of datesIn(zone, first, count)) {
    for (const { date: its, start, end, closed } of overrides) {
      if (its !== date || closed === true || start === undefined || end === undefined) continue
      yield edges(zone, date, { start, end }, first, count)
    }
  }
  for (const hours of openHours) {
    const own = hours.timezone ?? zone
    for (const date of datesIn(own, first, count)) {
      const weekday = DateTime.fromISO(date, { zone: 'utc' }).weekday % 7
      const isOn = hours.days.some((day) => (typeof day === 'number' ? day : NAMES.indexOf(day)) === weekday)
      if (isOn && !isOverridden(date)) yield edges(own, date, hours, first, count)
    }
  }
}

/** The dates of which every minute is known, and the one after. */
function datesIn(zone: string, first: number, count: number): string[] {
  const walls = wallClocks(zone, first, count)
  const dates: string[] = []
  const last = Math.floor((walls.at(-1) ?? 0) / DAY_MINUTES) - 2
  for (let day = Math.floor((walls[0] ?? 0) / DAY_MINUTES) + 1; day <= last; day += 1) {
    dates.push(DateTime.fromMillis(day * DAY_MINUTES * 60_000, { zone: 'utc' }).toISODate() ?? '')
  }
  return dates
}

function edges(
  zone: string,
  date: string,
  { start, end }: Pick<OpenHours, 'start' | 'end'>,
  first: number,
  count: number,
): [number, number] {
  const walls = wallClocks(zone, first, count)
  const wallAt = (clock: string) => {
    const [hours = 0, minutes = 0] = clock.split(':').map(Number)
    return DateTime.fromISO(date, { zone: 'utc' }).toMillis() / 60_000 + hours * 60 + minutes
  }
  const [startWall, endWall] = [wallAt(start), wallAt(end) + (end > start ? 0 : DAY_MINUTES)]
  const firstAfter = (wall: number) => walls.findIndex((candidate) => candidate > wall)
  const begin = walls.indexOf(startWall)
  const until = walls.lastIndexOf(endWall)
  return [begin === -1 ? firstAfter(startWall) : begin, until === -1 ? firstAfter(endWall) : until]
}

const cached = new Map<string, number[]>()
const MAX_KNOWN = 100

/** The wall clock of each minute, in minutes as if it were UTC. Clocks change at full quarters of an hour. */
function wallClocks(zone: string, first: number, count: number): number[] {
  const key = `${zone} ${first} ${count}`
  const found = cached.get(key)
  if (found !== undefined) return found
  const walls: number[] = []
  let offset = 0
  for (let minute = first; minute < first + count; minute += 1) {
    if (minute === first || minute % 15 === 0) offset = toWall(zone, minute) - minute
    walls.push(minute + offset)
  }
  if (cached.size >= MAX_KNOWN) cached.clear()
  cached.set(key, walls)
  return walls
}

function toWall(zone: string, minute: number): number {
  return minute + IANAZone.create(zone).offset(minute * 60_000)
}
