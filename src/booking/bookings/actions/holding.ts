import type { Db, Tx } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { cleanJson } from '../../../platform/formats/text.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { TimeRange } from '../../../providers/contract/index.ts'
import type { CheckedSlot, FreeTime, SlotFinder, StoredSlot } from '../../contract.ts'
import type { Experience } from '../../experiences/experience.ts'
import type { MailBudget } from '../../guests/budget.ts'
import { lockCounter } from '../../guests/counters.ts'
import { blockStore } from '../../slots/blocks.ts'
import { formatSlotDay, isDayFull, readRules } from '../../slots/slot-rules.ts'
import { isTaken } from '../../slots/taken-with-buffers.ts'
import type { SlotBody } from '../api.ts'
import { parseSlot } from '../input.ts'
import { bookingStore } from '../store.ts'
import { checkSignal, HOLD_MS, lockHosts, takeSlot } from './blocking.ts'

export interface HoldDeps {
  db: Db
  clock: Clock
  ids: Ids
  experiences: { getActive(slug: string): Promise<Experience> }
  finder: SlotFinder
  budget: MailBudget
}

export interface HoldOptions {
  requestId: string
  /** Who asked, without a key. See `clientBlock`. Undefined for the application, whose holds are not limited. */
  client: string | undefined
}

export interface Held {
  id: string
  slot: StoredSlot
  expiresAt: number
}

const DAY_MS = 24 * 60 * 60_000
/** A client keeps at most so many slots at the same time. */
const MAX_HOLDS = 3
/** A client that let a hold end gets none for its time meanwhile, so that nobody keeps a slot from others by holding it again. */
const LAPSED_MS = 60 * 60_000
/** Before and after a slot: where a host must have other free times. */
const AROUND_MS = 3 * DAY_MS

/** Keeps the slot for its guest for five minutes. Throws `slot_unavailable`, `rate_limited`, `hold_unavailable`. */
export async function holdSlot(
  deps: HoldDeps,
  slug: string,
  slot: SlotBody,
  { requestId, client }: HoldOptions,
): Promise<Held> {
  const { db, clock, ids, experiences, finder, budget } = deps
  const experience = await experiences.getActive(slug)
  const choice = parseSlot('body.slot', slot)
  const checked = await finder.check(experience, choice, { requestId, signal: checkSignal() })
  const { start, end } = checked.slot
  const around = { from: Math.max(clock.now(), start - AROUND_MS), to: end + AROUND_MS }
  const request = { range: around, lengthMs: end - start, requestId }
  const free = client === undefined ? [] : await finder.freeTimes(experience, request, checkSignal())
  const hash = client === undefined ? null : budget.clientHash(client)
  return db.transaction(async (tx) => {
    const nowMs = clock.now()
    await lockHosts(tx, db.dialect, checked.candidates, nowMs)
    if (hash !== null) await checkClient(tx, hash, checked, nowMs)
    const [id, expiresAt] = [ids('hld'), nowMs + HOLD_MS]
    const taken = await takeSlot(tx, { experience, checked, ownerId: id, expiresAt, nowMs })
    await bookingStore(tx).insertHold({
      id,
      experienceId: experience.id,
      slot: cleanJson(taken),
      expiresAt,
      client: hash,
      startMs: taken.start,
      endMs: taken.end,
    })
    if (hash !== null) await checkOthers(tx, { experience, taken, free, around, nowMs })
    return { id, slot: taken, expiresAt }
  })
}

/** Locks the holds of the client, so that parallel requests count each other. */
async function checkClient(tx: Tx, client: string, { slot }: CheckedSlot, nowMs: number): Promise<void> {
  await lockCounter(tx, `holds:${client}`)
  const holds = await tx
    .selectFrom('bookingHolds')
    .select(['expiresAt', 'startMs', 'endMs'])
    .where('client', '=', client)
    .where('expiresAt', '>', nowMs - LAPSED_MS)
    .execute()
  const open = holds.filter(({ expiresAt }) => expiresAt > nowMs)
  if (open.length >= MAX_HOLDS) {
    const nextMs = Math.min(...open.map(({ expiresAt }) => expiresAt)) - nowMs
    throw new AppError('rate_limited', {
      message: `You hold ${open.length} times already. Book one of them, or this one without a hold.`,
      headers: { 'retry-after': String(Math.ceil(nextMs / 1000)) },
    })
  }
  const isLapsed = holds.some(({ expiresAt, startMs, endMs }) => {
    const overlaps = startMs !== null && endMs !== null && startMs < slot.end && endMs > slot.start
    return overlaps && expiresAt <= nowMs
  })
  if (isLapsed) {
    throw new AppError('hold_unavailable', { message: 'Your hold of this time has ended. Book it without a hold.' })
  }
}

interface Others {
  experience: Experience
  /** The slot that is held now. */
  taken: StoredSlot
  free: readonly FreeTime[]
  around: TimeRange
  nowMs: number
}

/**
 * Each host must keep as many free times as strangers hold of them, and at least one, so that nobody closes a calendar by holding all
 * of it. Throws `hold_unavailable`.
 */
async function checkOthers(tx: Tx, { experience, taken, free, around, nowMs }: Others): Promise<void> {
  const hostIds = taken.hosts.length > 0 ? taken.hosts : [experience.id]
  const rules = readRules(experience)
  const held = await countHeld(tx, hostIds, around, nowMs)
  const blocks = await blockStore(tx).list(hostIds, around, { nowMs })
  for (const hostId of hostIds) {
    const own = blocks.filter((block) => block.hostId === hostId)
    const perDay = new Map<string, number>()
    for (const { experienceId, day } of own) {
      if (experienceId === experience.id) perDay.set(day, (perDay.get(day) ?? 0) + 1)
    }
    const remaining = free.filter(
      (time) =>
        time.hosts.includes(hostId) &&
        !isTaken(time, rules, { busy: [], blocks: own }) &&
        !isDayFull(rules, perDay.get(formatSlotDay(rules, time))),
    )
    if (remaining.length < Math.max(1, held.get(hostId) ?? 0)) throw new AppError('hold_unavailable')
  }
}

/** How many slots strangers hold, by host. */
async function countHeld(tx: Tx, hostIds: readonly string[], { from, to }: TimeRange, nowMs: number) {
  const rows = await tx
    .selectFrom('bookingBlocks')
    .innerJoin('bookingHolds', 'bookingHolds.id', 'bookingBlocks.ownerId')
    .select(({ fn }) => ['bookingBlocks.hostId as hostId', fn.countAll().as('count')])
    .where('bookingBlocks.hostId', 'in', [...hostIds])
    .where('bookingBlocks.startMs', '>=', from)
    .where('bookingBlocks.startMs', '<', to)
    .where('bookingHolds.client', 'is not', null)
    .where('bookingHolds.expiresAt', '>', nowMs)
    .groupBy('bookingBlocks.hostId')
    .execute()
  return new Map(rows.map(({ hostId, count }) => [hostId, Number(count)]))
}
