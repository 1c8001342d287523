import type { Dialect, Tx } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { CheckedSlot, Slot, StoredSlot } from '../../contract.ts'
import type { Experience } from '../../experiences/experience.ts'
import { inOrderOfLoad } from '../../slots/assignment.ts'
import { type BlockQuery, blockStore } from '../../slots/blocks.ts'
import type { HoldRow } from '../../tables.ts'

export const HOLD_MS = 5 * 60_000
/** For the calendars and the availability callback. */
const CHECK_MS = 45_000

export interface Taking {
  experience: Experience
  checked: CheckedSlot
  /** The booking or hold. */
  ownerId: string
  expiresAt: number | null
  /** A booking or hold whose blocks do not count, because this one replaces them. */
  except?: string | undefined
  /** Hosts of a round robin that take the slot if they can. */
  preferred?: readonly string[]
  nowMs: number
}

/**
 * Waits for other transactions that check or change the blocks of these hosts, and deletes their expired holds. Call it first in the
 * transaction: whatever it reads afterwards of their blocks cannot change.
 */
export async function lockHosts(tx: Tx, dialect: Dialect, hosts: readonly string[], nowMs: number): Promise<void> {
  const blocks = blockStore(tx)
  await blocks.lockHosts(hosts, dialect)
  await blocks.deleteExpired(hosts, nowMs)
}

/** Blocks the slot for its hosts, which must be locked. Throws `slot_unavailable`. */
export async function takeSlot(tx: Tx, taking: Taking): Promise<StoredSlot> {
  const { experience, checked, ownerId, expiresAt, except, preferred = [], nowMs } = taking
  const { slot, take, candidates } = checked
  const query = { nowMs, except: except === undefined ? [] : [except] }
  const blocks = blockStore(tx)
  const taken = await blocks.conflicts(experience, candidates, slot, query)
  const free = candidates.filter((hostId) => !taken.has(hostId))
  const hostIds = take === 'one' ? await pickHost(tx, free, { experience, slot, query, preferred }) : free
  if (hostIds.length === 0 || (take === 'every' && free.length < candidates.length)) {
    throw new AppError('slot_unavailable')
  }
  await blocks.insert(experience, slot, { id: ownerId, hostIds, expiresAt })
  return storedSlot(experience, checked, hostIds)
}

/** The host of a round robin whose turn it is. Bookings and holds that others make at the same time count already. */
async function pickHost(
  tx: Tx,
  free: readonly string[],
  { experience, slot, query, preferred }: Pick<Taking, 'experience'> & OneOf,
): Promise<string[]> {
  const wanted = free.filter((hostId) => preferred.includes(hostId))
  const hosts = wanted.length > 0 ? wanted : free
  if (hosts.length < 2) return [...hosts]
  const loads = await blockStore(tx).loads(experience, hosts, slot, query)
  return inOrderOfLoad(hosts, loads, experience.definition.availability?.weights).slice(0, 1)
}

interface OneOf {
  slot: Slot
  query: BlockQuery
  preferred: readonly string[]
}

/** Makes the blocks of a hold those of the booking. Throws `slot_unavailable` when the hold has expired. */
export async function takeHold(tx: Tx, hold: HoldRow, bookingId: string): Promise<void> {
  const { hosts }: StoredSlot = JSON.parse(hold.slot)
  const count = await blockStore(tx).takeOver(hold.id, bookingId)
  // Without hosts, the experience itself is blocked.
  if (count !== Math.max(1, hosts.length)) throw holdExpired()
}

/** The slot with the hosts that take part. */
function storedSlot(experience: Experience, { slot }: CheckedSlot, hostIds: readonly string[]): StoredSlot {
  const hosts = hostIds.filter((hostId) => hostId !== experience.id)
  return { ...slot, participants: slot.participants.length > 0 ? slot.participants : hosts, hosts }
}

export function holdExpired(): AppError {
  return new AppError('slot_unavailable', { message: 'The hold has expired. Choose a time again.' })
}

/** Ends the check of a slot that takes too long. */
export function checkSignal(): AbortSignal {
  return AbortSignal.timeout(CHECK_MS)
}
