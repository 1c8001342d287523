import { sql } from 'kysely'
import { DAY_MS, formatDay } from '../../platform/calendar/days.ts'
import { yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import { type Dialect, type Handle, padded } from '../../platform/db/index.ts'
import type { TimeRange } from '../../providers/contract/index.ts'
import type { Slot } from '../contract.ts'
import type { Experience } from '../experiences/experience.ts'
import type { BlockRow } from '../tables.ts'
import type { Load } from './assignment.ts'
import { dayIn, formatSlotDay, isDayFull, readRules } from './slot-rules.ts'
import { isTaken } from './taken-with-buffers.ts'

type SlotTimes = Pick<Slot, 'start' | 'end'>

export interface BlockQuery {
  nowMs: number
  /** Bookings and holds whose blocks do not count. */
  except?: readonly string[] | undefined
}

/** Who takes a slot: the booking or hold, and the hosts. */
export interface BlockOwner {
  id: string
  hostIds: readonly string[]
  /** The end of a hold; null for a booking. */
  expiresAt: number | null
}

/** Limits how long a statement of the file store holds the event loop. */
const HOSTS_PER_QUERY = 8
const TURN_MS = 8
/** Loads are compared within 30 days around a slot. */
const LOAD_MS = 15 * DAY_MS
/** Bookings with older dates do not count when the host is chosen who was assigned longest ago. */
const LATEST_DAYS = 90

/**
 * The blocks of hosts; an expired hold blocks nothing. The methods that write need a transaction. One that takes a slot calls
 * `lockHosts`, `deleteExpired`, `conflicts` and `insert`, in this order.
 */
class BlockStore {
  readonly #handle: Handle

  constructor(handle: Handle) {
    this.#handle = handle
  }

  /** The blocks that overlap the range, buffers included. */
  async list(hostIds: readonly string[], range: TimeRange, query: BlockQuery): Promise<BlockRow[]> {
    const found: BlockRow[] = []
    for (const some of portions(hostIds)) {
      const rows = await this.#select(some, query)
        .selectAll()
        .where('blockedTo', '>', range.from)
        .where('blockedFrom', '<', range.to)
        .execute()
      for (const row of rows) found.push(row)
      await yieldIfHeld(TURN_MS)
    }
    return found
  }

  /** How many bookings and holds of an experience each host has per date, from the first to the last date. */
  async countPerDay(
    experienceId: string,
    hostIds: readonly string[],
    dates: { first: string; last: string },
    query: BlockQuery,
  ): Promise<Map<string, Map<string, number>>> {
    const counts = new Map<string, Map<string, number>>()
    for (const some of portions(hostIds)) {
      const rows = await this.#select(some, query)
        .select(({ fn }) => ['hostId', 'day', fn.countAll().as('count')])
        .where('experienceId', '=', experienceId)
        .where('day', '>=', dates.first)
        .where('day', '<=', dates.last)
        .groupBy(['hostId', 'day'])
        .execute()
      for (const { hostId, day, count } of rows) {
        const ofHost = counts.get(hostId) ?? new Map<string, number>()
        counts.set(hostId, ofHost.set(day, Number(count)))
      }
      await yieldIfHeld(TURN_MS)
    }
    return counts
  }

  /** The hosts that cannot take the slot: another meeting is too near, or their date is full. */
  async conflicts(
    experience: Experience,
    hostIds: readonly string[],
    slot: SlotTimes,
    query: BlockQuery,
  ): Promise<Set<string>> {
    const rules = readRules(experience)
    const range = { from: slot.start - rules.beforeMs, to: slot.end + rules.afterMs }
    const taken = new Set<string>()
    for (const block of await this.list(hostIds, range, query)) {
      if (isTaken(slot, rules, { busy: [], blocks: [block] })) taken.add(block.hostId)
    }
    if (rules.perDay === Number.POSITIVE_INFINITY) return taken
    const date = formatSlotDay(rules, slot)
    const counts = await this.countPerDay(experience.id, hostIds, { first: date, last: date }, query)
    for (const [hostId, ofHost] of counts) if (isDayFull(rules, ofHost.get(date))) taken.add(hostId)
    return taken
  }

  /** Counts the bookings and living holds of the experience for each host. Hosts without any are absent. */
  async loads(experience: Experience, hostIds: readonly string[], slot: SlotTimes, query: BlockQuery) {
    const rules = readRules(experience)
    const [from, to] = [slot.start - LOAD_MS, slot.start + LOAD_MS]
    const since = formatDay(Math.min(dayIn(rules, query.nowMs) - LATEST_DAYS, dayIn(rules, from)))
    const loads = new Map<string, Load>()
    for (const some of portions(hostIds)) {
      const rows = await this.#select(some, query)
        .select([
          'hostId',
          sql<number>`sum(case when "startMs" >= ${from} and "startMs" < ${to} then 1 else 0 end)`.as('count'),
          sql<string>`max(case when "expiresAt" is null then "ownerId" else '' end)`.as('latest'),
        ])
        .where('experienceId', '=', experience.id)
        .where('day', '>=', since)
        .groupBy('hostId')
        .execute()
      for (const { hostId, count, latest } of rows) loads.set(hostId, { count: Number(count), latest })
    }
    return loads
  }

  /** Waits for other transactions that check or change the blocks of these hosts. On SQLite there are none. */
  async lockHosts(hostIds: readonly string[], dialect: Dialect): Promise<void> {
    // One order for all transactions, so that no two wait for each other.
    const sorted = [...new Set(hostIds)].sort()
    await this.#handle
      .insertInto('bookingHosts')
      .values(sorted.map((hostId) => ({ hostId })))
      .onConflict((conflict) => conflict.column('hostId').doNothing())
      .execute()
    await this.#handle
      .selectFrom('bookingHosts')
      .select('hostId')
      .where('hostId', 'in', padded(sorted))
      .orderBy('hostId')
      .modifyEnd(dialect.forUpdate)
      .execute()
  }

  /** Takes the slot, with the buffers of the experience, for each of the hosts. */
  async insert(experience: Experience, slot: SlotTimes, { id, hostIds, expiresAt }: BlockOwner): Promise<void> {
    const rules = readRules(experience)
    const block = {
      ownerId: id,
      experienceId: experience.id,
      startMs: slot.start,
      endMs: slot.end,
      blockedFrom: slot.start - rules.beforeMs,
      blockedTo: slot.end + rules.afterMs,
      day: formatSlotDay(rules, slot),
      expiresAt,
    }
    await this.#handle
      .insertInto('bookingBlocks')
      .values(hostIds.map((hostId) => ({ ...block, hostId })))
      .execute()
  }

  /** Frees the times of the booking or hold. */
  async deleteOwner(ownerId: string): Promise<void> {
    await this.#handle.deleteFrom('bookingBlocks').where('ownerId', '=', ownerId).execute()
  }

  /** Gives the blocks of a hold to a booking, in place of those that it has. Returns how many. */
  async takeOver(holdId: string, bookingId: string): Promise<number> {
    await this.deleteOwner(bookingId)
    const { numUpdatedRows } = await this.#handle
      .updateTable('bookingBlocks')
      .set({ ownerId: bookingId, expiresAt: null })
      .where('ownerId', '=', holdId)
      .executeTakeFirst()
    return Number(numUpdatedRows)
  }

  /** Deletes the expired holds of the hosts. */
  async deleteExpired(hostIds: readonly string[], nowMs: number): Promise<void> {
    await this.#handle
      .deleteFrom('bookingBlocks')
      .where('hostId', 'in', padded(hostIds))
      .where('expiresAt', '<=', nowMs)
      .execute()
  }

  /** The blocks of the hosts, without expired holds. */
  #select(hostIds: readonly string[], { nowMs, except = [] }: BlockQuery) {
    return this.#handle
      .selectFrom('bookingBlocks')
      .where('hostId', 'in', padded(hostIds))
      .where((eb) => eb.or([eb('expiresAt', 'is', null), eb('expiresAt', '>', nowMs)]))
      .$if(except.length > 0, (query) => query.where('ownerId', 'not in', [...except]))
  }
}

export function blockStore(handle: Handle): BlockStore {
  return new BlockStore(handle)
}

function* portions(hostIds: readonly string[]): Generator<readonly string[]> {
  for (let start = 0; start < hostIds.length; start += HOSTS_PER_QUERY) {
    yield hostIds.slice(start, start + HOSTS_PER_QUERY)
  }
}
