import type { TimeRange } from '../../providers/contract/index.ts'
import { type CalendarRow, type EventRow, eventStore } from '../store.ts'
import type { AccountCalendarsDeps, OwnedCalendars } from './owned-calendars.ts'
import { applyChanges } from './step/apply.ts'
import { NOTHING } from './step/split-step.ts'

const ROWS_PER_TRANSACTION = 50

/** Deletes the events that rounds before `round` stored. Those that ended before the window are not listed again, so nothing is announced. */
export async function removeEvents(
  deps: AccountCalendarsDeps,
  { accountId, epoch, provider, signal, onStored }: OwnedCalendars,
  calendar: CalendarRow,
  round: number,
): Promise<void> {
  const { db, clock, fence } = deps
  for (let more = true; more; ) {
    signal.throwIfAborted()
    const deleted = await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      const rows = await eventStore(tx, calendar.id).beforeRound(round, ROWS_PER_TRANSACTION)
      const source = { readAfter: Number.MAX_SAFE_INTEGER }
      const context = { calendar, provider, window: storedWindow(calendar), nowMs: clock.now(), source }
      const hasLeft = ({ firstMs, startMs }: EventRow) => firstMs === null && startMs < calendar.windowFrom
      for (const isAnnounced of [true, false]) {
        const removed = rows.filter((row) => hasLeft(row) !== isAnnounced).map(({ providerId }) => providerId)
        const isFirst = calendar.syncedAt === null
        await applyChanges(deps, tx, { ...context, isAnnounced: isAnnounced && !isFirst }, { ...NOTHING, removed })
      }
      return rows.length
    })
    if (deleted > 0) onStored?.({ added: 0, updated: 0, deleted })
    more = deleted > 0
  }
}

function storedWindow({ windowFrom, windowTo }: CalendarRow): TimeRange {
  return { from: windowFrom, to: windowTo }
}
