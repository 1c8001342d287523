import type { NewEvent, Recorder } from '../../../events/index.ts'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import type { Db, Tx } from '../../../platform/db/index.ts'
import { parseTime } from '../../../platform/time/time.ts'
import type { StoredSlot } from '../../contract.ts'
import { openExperience } from '../../experiences/experience.ts'
import { blockStore } from '../../slots/blocks.ts'
import type { BookingRow } from '../../tables.ts'
import { bookedHosts, bookedSlot, isBooked } from '../booking.ts'
import type { BookingEvent } from '../events.ts'
import { type ChangeDeps, holdHosts, storeCancellation, storeMove } from '../state-changes.ts'
import { bookingStore } from '../store.ts'

interface HostChangeDeps extends ChangeDeps {
  db: Pick<Db, 'dialect'>
  sealer: Sealer
}

/** The limit for one query. */
const MAX_IDS = 500
const REASON = 'The event was deleted in the calendar.'

/**
 * A recorder for calendars that also finds bookings whose event a host has deleted or moved: they follow, in the same transaction. What
 * the tasks of a booking write changes nothing, because the booking was changed before.
 */
export function bookingRecorder(deps: HostChangeDeps): Recorder {
  const { events } = deps
  return {
    async record(tx, recorded) {
      const about = new Map(recorded.filter(isChange).map((event) => [event.objectId ?? '', event]))
      const followed: BookingEvent[] = []
      for (const { bookingId, eventId, hostId } of await findBookings(tx, [...about.keys()])) {
        const event = about.get(eventId)
        const found = event && (await follow(deps, tx, event, bookingId, hostId))
        if (found !== undefined) followed.push(found)
      }
      const ids = await events.record(tx, [...recorded, ...followed])
      return ids.slice(0, recorded.length)
    },
  }
}

async function follow(
  deps: HostChangeDeps,
  tx: Tx,
  event: NewEvent,
  bookingId: string,
  hostId: string,
): Promise<BookingEvent | undefined> {
  const booking = await bookingStore(tx).find(bookingId)
  if (booking === undefined || !isBooked(booking) || !bookedHosts(booking).includes(hostId)) return undefined
  const slot = event.type === 'calendar.event.deleted' ? undefined : movedSlot(booking, event.data)
  if (slot === undefined && event.type !== 'calendar.event.deleted') return undefined
  const { account } = await holdHosts(deps, tx, bookedHosts(booking))
  const row = await bookingStore(tx).lock(bookingId, deps.db.dialect)
  if (row.version !== booking.version) return undefined
  if (slot === undefined) {
    const cancellation = { by: 'host', reason: REASON, isReasonInternal: 1 } as const
    return (await storeCancellation(deps, tx, row, account, cancellation)).event
  }
  const change = await storeMove(deps, tx, row, account, { slot })
  await moveBlocks(deps, tx, change.row, slot)
  return change.event
}

/** The host decides about overlaps: nothing is checked. */
async function moveBlocks(
  { sealer }: HostChangeDeps,
  tx: Tx,
  { id, experienceId }: BookingRow,
  slot: StoredSlot,
): Promise<void> {
  const row = await tx.selectFrom('experiences').selectAll().where('id', '=', experienceId).executeTakeFirst()
  const blocks = await tx.selectFrom('bookingBlocks').select('hostId').where('ownerId', '=', id).execute()
  if (row === undefined || blocks.length === 0) return
  const store = blockStore(tx)
  await store.deleteOwner(id)
  const hostIds = blocks.map(({ hostId }) => hostId)
  await store.insert(openExperience(row, sealer), slot, { id, hostIds, expiresAt: null })
}

function isChange({ type, objectId }: NewEvent): boolean {
  return objectId !== null && (type === 'calendar.event.deleted' || type === 'calendar.event.updated')
}

async function findBookings(tx: Tx, eventIds: readonly string[]) {
  const found: { bookingId: string; eventId: string; hostId: string }[] = []
  for (let start = 0; start < eventIds.length; start += MAX_IDS) {
    const some = await tx
      .selectFrom('bookingEvents')
      .select(['bookingId', 'eventId', 'hostId'])
      .where('eventId', 'in', eventIds.slice(start, start + MAX_IDS))
      .execute()
    found.push(...some)
  }
  return found
}

/** Where the host has moved the event. Undefined while the calendars do not show the booking yet, and for what is no longer one meeting. */
function movedSlot(row: BookingRow, data: unknown): StoredSlot | undefined {
  const { start, end, recurrence } = Object(data)
  const [from, to] = [parseTime(String(start?.dateTime)), parseTime(String(end?.dateTime))]
  const isMeeting =
    from !== undefined && to !== undefined && from < to && Array.isArray(recurrence) && !recurrence.length
  // Calendars count whole seconds.
  const isMoved = isMeeting && (from !== seconds(row.startMs) || to !== seconds(row.endMs))
  return isMoved && row.calendarState === 'written' ? { ...bookedSlot(row), start: from, end: to } : undefined
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}
