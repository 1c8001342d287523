import { sql } from 'kysely'
import { DAY_MS } from '../../platform/calendar/days.ts'
import { findZone, UTC, type Zone } from '../../platform/calendar/zone.ts'
import { yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import { type Handle, PREPARED } from '../../platform/db/index.ts'
import { mergeRanges, type TimeRange } from '../../providers/contract/index.ts'
import { overlapping } from '../read/range.ts'
import type { CalendarRow } from '../store.ts'
import type { Asked } from './account-busy.ts'

const ROWS_PER_QUERY = 2000
const TURN_MS = 8

interface Stored {
  startMs: number
  endMs: number
  isFloating?: number
}

/** When one calendar is busy within the range, in order, without overlaps. The range is within its window. */
export async function storedBusy(
  handle: Handle,
  { id, timeZone }: Pick<CalendarRow, 'id' | 'timeZone'>,
  { range, floatingZone, exceptEventIds = [] }: Omit<Asked, 'isFresh' | 'signal'>,
): Promise<TimeRange[]> {
  const except = exceptEventIds.length === 0 ? sql`` : sql`and "eventId" not in (${sql.join([...exceptEventIds])})`
  const zone = findZone(floatingZone) ?? UTC
  // Floating times are stored as if they were in UTC. A calendar with a zone has none, and is read in the order of an index.
  const mayFloat = timeZone === null
  const stored = mayFloat ? { from: range.from - DAY_MS, to: range.to + DAY_MS } : range
  const key = mayFloat ? sql`"startMs", "isFloating"` : sql`"startMs"`
  let busy: TimeRange[] = []
  for (let after: [startMs: number, isFloating: number] | undefined; ; ) {
    // The longest of the instances that start together is enough, so that a page never ends between them.
    const page = sql`group by ${key} order by ${key} limit ${sql.lit(ROWS_PER_QUERY)}`
    const next = after === undefined ? sql`` : sql`and (${key}) > (${sql.join(after.slice(0, mayFloat ? 2 : 1))})`
    const longest = sql`${key}, max("endMs") as "endMs"`
    const instances = overlapping(id, stored, longest, sql`and "isBusy" = 1 ${except} ${next} ${page}`)
    const { rows } = await sql<Stored>`${PREPARED}select ${longest} from (${instances}) as "pages"
      ${page}`.execute(handle)
    busy = mergeRanges([
      ...busy,
      ...rows.map((row) => placed(row, zone)).filter((busyRange) => overlaps(busyRange, range)),
    ])
    await yieldIfHeld(TURN_MS)
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_PER_QUERY) return busy
    after = [Number(last.startMs), Number(last.isFloating ?? 0)]
  }
}

function placed({ startMs, endMs, isFloating = 0 }: Stored, zone: Zone): TimeRange {
  const [from, to] = [Number(startMs), Number(endMs)]
  return Number(isFloating) === 0 ? { from, to } : { from: zone.toUtc(from), to: zone.toUtc(to) }
}

function overlaps({ from, to }: TimeRange, range: TimeRange): boolean {
  return from < range.to && to > range.from
}
