import type { BusyTimes } from '../../../calendars/index.ts'
import { formatDay } from '../../../platform/calendar/days.ts'
import { findZone } from '../../../platform/calendar/zone.ts'
import type { Db } from '../../../platform/db/index.ts'
import { AppError, invalid } from '../../../platform/errors/app-error.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { isoTime } from '../../../platform/time/time.ts'
import type { TimeRange } from '../../../providers/contract/index.ts'
import type { Slot, SlotFinder, SlotRequest } from '../../contract.ts'
import type { Experience } from '../../experiences/experience.ts'
import type { BlockRow } from '../../tables.ts'
import { type BlockQuery, blockStore } from '../blocks.ts'
import {
  dayIn,
  defaultMinutes,
  experienceHosts,
  isDayFull,
  MAX_LENGTH_MS,
  otherLengths,
  type Rules,
  readRules,
  toLengthMs,
} from '../slot-rules.ts'
import { type FreeSlot, freeSlots, type Grid, type HostTimes, openStarts } from './open-slots.ts'

export interface BuiltInSlotsDeps {
  db: Db
  clock: Clock
  log: Log
  /** When accounts are busy, from the calendars feature. */
  readBusy: BusyTimes
}

/** Which bookings and holds do not count, and when to give up. */
interface Asked {
  except?: string | undefined
  /** From the providers, because the slot is to be booked. */
  isFresh?: boolean
  signal: AbortSignal
}

const MINUTE_MS = 60_000
const EXPIRES_MS = 5 * MINUTE_MS
/** Slots times participants of a list. */
const MAX_ENTRIES = 100_000

/** Finds slots in open hours, when the hosts are free in their calendars and have no other booking. */
export function builtInSlots(deps: BuiltInSlotsDeps): SlotFinder {
  const { clock } = deps
  return {
    async list(experience, request, signal) {
      const rules = readRules(experience)
      const grid = buildGrid(rules, request)
      const timezone = zoneOfRequest(experience, request.timezone, 'body.timezone')
      const nowMs = clock.now()
      const found = await findSlots(deps, experience, rules, grid, nowMs, { signal })
      const participants = fixedParticipants(experience, rules)
      return {
        slots: found.map(({ start }) => buildSlot(start, grid.lengthMs, timezone, participants)),
        generatedAt: isoTime(nowMs),
        expiresAt: isoTime(nowMs + EXPIRES_MS),
        timezone,
      }
    },

    async check(experience, choice, { except, signal }) {
      const rules = readRules(experience)
      const { start, end } = choice
      const timezone = zoneOfRequest(experience, choice.timezone, 'body.slot.timezone')
      const lengthMs = end === undefined ? toLengthMs(defaultMinutes(rules.availability)) : end - start
      requireLength(rules, lengthMs, 'body.slot.end')
      if (lengthMs > MAX_LENGTH_MS) throw new AppError('slot_unavailable')
      const range = { from: start, to: start + lengthMs }
      const nowMs = clock.now()
      const grid = { range, lengthMs, stepMs: rules.stepMs }
      const isFresh = rules.availability.checkCalendars !== 'stored'
      const [found] = await findSlots(deps, experience, rules, grid, nowMs, { except, isFresh, signal })
      if (found === undefined) throw new AppError('slot_unavailable')
      const slot = buildSlot(start, lengthMs, timezone, fixedParticipants(experience, rules))
      return { slot, take: rules.isRoundRobin ? 'one' : 'every', candidates: [...found.free] }
    },

    async freeTimes(experience, { range, lengthMs }, signal) {
      const rules = readRules(experience)
      const grid = { range, lengthMs, stepMs: rules.stepMs ?? lengthMs }
      const found = await findSlots(deps, experience, rules, grid, clock.now(), { signal })
      return found.map(({ start, free }) => ({ start, end: start + lengthMs, hosts: free }))
    },
  }
}

/** The slots that can be booked: what a list shows, and with the range of one slot, whether it can be booked. */
async function findSlots(
  deps: BuiltInSlotsDeps,
  experience: Experience,
  rules: Rules,
  grid: Grid,
  nowMs: number,
  asked: Asked,
): Promise<FreeSlot[]> {
  const starts = openStarts(rules, grid, nowMs)
  const [first, last] = [starts[0], starts.at(-1)]
  if (first === undefined || last === undefined) return []
  const participants = fixedParticipants(experience, rules).length
  if (starts.length * Math.max(1, participants) > MAX_ENTRIES) {
    const message = `has ${starts.length} slots with ${participants} participants each; together they may be ${MAX_ENTRIES}. Ask for a shorter range or a longer interval`
    throw invalid('body.range.end', message)
  }
  const range = { from: first - rules.beforeMs, to: last + grid.lengthMs + rules.afterMs }
  const hosts = await readHostTimes(deps, experience, rules, range, asked)
  return freeSlots(rules, starts, grid.lengthMs, hosts)
}

/** When each host is busy, blocked, or has a date that is full. */
async function readHostTimes(
  deps: BuiltInSlotsDeps,
  experience: Experience,
  rules: Rules,
  range: TimeRange,
  asked: Asked,
): Promise<HostTimes[]> {
  const { db, clock } = deps
  const busyTimes = await readCalendars(deps, experience, rules, range, asked)
  // After the calendars, which may take a while.
  const query = { nowMs: clock.now(), except: asked.except === undefined ? [] : [asked.except] }
  const hostIds = [...busyTimes.keys()]
  const full = await findFullDates(db, experience, rules, range, hostIds, query)
  const hosts = new Map<string, HostTimes & { blocks: BlockRow[] }>()
  for (const [hostId, busy] of busyTimes) {
    hosts.set(hostId, { hostId, busy, blocks: [], fullDates: full.get(hostId) ?? new Set() })
  }
  for (const block of await blockStore(db.read).list(hostIds, range, query)) hosts.get(block.hostId)?.blocks.push(block)
  return [...hosts.values()]
}

/** The busy times of the hosts whose calendars can be read. Throws `provider_unavailable` when the meeting needs another host. */
async function readCalendars(
  { db, log, readBusy }: BuiltInSlotsDeps,
  experience: Experience,
  rules: Rules,
  range: TimeRange,
  { except, isFresh = false, signal }: Asked,
): Promise<Map<string, HostTimes['busy']>> {
  const accountIds = experience.definition.defaultAccountIds
  const exceptEventIds = except === undefined ? [] : await findEventIds(db, except)
  const times = await readBusy(accountIds, range, { isFresh, floatingZone: rules.zone.name, exceptEventIds, signal })
  const readable = new Map<string, HostTimes['busy']>()
  for (const hostId of experienceHosts(experience)) {
    const found = times.get(hostId)
    if (found === undefined) readable.set(hostId, [])
    else if ('busy' in found) readable.set(hostId, found.busy)
  }
  const unreadable = [...times].flatMap(([id, found]) => ('reason' in found ? `${id} (${found.reason})` : []))
  if (unreadable.length === 0) return readable
  log.warn('Cannot read the calendars of some hosts. They cannot be booked until their accounts work again.', {
    operation: 'scheduler.availability',
    metadata: { experience: experience.slug, unreadable },
  })
  if (rules.isRoundRobin && readable.size > 0) return readable
  // Guests receive it, so it names no account.
  throw new AppError('provider_unavailable', {
    message: 'Cannot read the calendar of a host at the moment. The log of the service names the account.',
  })
}

/** The dates on which a host has as many bookings as the experience permits. */
async function findFullDates(
  db: Db,
  { id }: Experience,
  rules: Rules,
  range: TimeRange,
  hostIds: readonly string[],
  query: BlockQuery,
): Promise<Map<string, Set<string>>> {
  if (rules.perDay === Number.POSITIVE_INFINITY) return new Map()
  const dates = { first: formatDay(dayIn(rules, range.from)), last: formatDay(dayIn(rules, range.to)) }
  const counts = await blockStore(db.read).countPerDay(id, hostIds, dates, query)
  const isFull = ([, count]: [string, number]) => isDayFull(rules, count)
  return new Map([...counts].map(([hostId, days]) => [hostId, new Set([...days].filter(isFull).map(([day]) => day))]))
}

/** The events of a booking in the calendars of its hosts. */
async function findEventIds(db: Db, bookingId: string): Promise<string[]> {
  const rows = await db.read.selectFrom('bookingEvents').select('eventId').where('bookingId', '=', bookingId).execute()
  return rows.map(({ eventId }) => eventId)
}

function buildGrid(rules: Rules, { range, durationMinutes, intervalMinutes }: SlotRequest): Grid {
  const lengthMs = toLengthMs(durationMinutes)
  requireLength(rules, lengthMs, 'body.durationMinutes')
  if (intervalMinutes === undefined) return { range, lengthMs, stepMs: rules.stepMs ?? lengthMs }
  const stepMs = toLengthMs(intervalMinutes)
  if (rules.stepMs !== undefined && stepMs % rules.stepMs !== 0) {
    throw invalid('body.intervalMinutes', `must be a multiple of ${rules.stepMs / MINUTE_MS}`)
  }
  return { range, lengthMs, stepMs }
}

function requireLength({ availability }: Rules, lengthMs: number, path: string): void {
  const allowed = otherLengths(availability, lengthMs)
  if (allowed === undefined) return
  throw invalid(path, `gives ${lengthMs / MINUTE_MS} minutes; this can be booked for ${allowed}`)
}

function zoneOfRequest(experience: Experience, timezone: string | undefined, path: string): string {
  if (timezone === undefined) return experience.timezone
  if (findZone(timezone) === undefined) throw invalid(path, 'must be an IANA name, such as Europe/Berlin')
  return timezone
}

/** Who takes part in every slot. Which host of a round robin does is decided by the booking. */
function fixedParticipants({ definition }: Experience, rules: Rules): string[] {
  return rules.isRoundRobin ? [] : definition.defaultAccountIds
}

function buildSlot(start: number, lengthMs: number, timezone: string, participants: string[]): Slot {
  return { start, end: start + lengthMs, timezone, participants, metadata: {} }
}
