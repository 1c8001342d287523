import { sql } from 'kysely'
import { type Handle, PREPARED } from '../../../infra/db/index.ts'
import { yieldIfHeld } from '../../../lib/event-loop.ts'
import { mergeRanges, type TimeRange } from '../../../providers/contract/index.ts'
import { overlapping } from '../reading/range.ts'

const ROWS_PER_QUERY = 2000
const TURN_MS = 8

/** When one calendar is busy within the range, in order, without overlaps. The range is within its window. */
export async function storedBusy(
  handle: Handle,
  calendarId: string,
  range: TimeRange,
  exceptEventIds: readonly string[] = [],
): Promise<TimeRange[]> {
  const except = exceptEventIds.length === 0 ? sql`` : sql`and "eventId" not in (${sql.join([...exceptEventIds])})`
  let busy: TimeRange[] = []
  for (let after: number | undefined; ; ) {
    // Of instances that start together the longest is enough, so that a page never ends between them.
    const page = sql`group by "startMs" order by "startMs" limit ${sql.lit(ROWS_PER_QUERY)}`
    const next = after === undefined ? sql`` : sql`and "startMs" > ${after}`
    const longest = sql`"startMs", max("endMs") as "endMs"`
    const instances = overlapping(calendarId, range, longest, sql`and "isBusy" = 1 ${except} ${next} ${page}`)
    const { rows } = await sql<{
      startMs: number
      endMs: number
    }>`${PREPARED}select ${longest} from (${instances}) as "pages"
      ${page}`.execute(handle)
    busy = mergeRanges([...busy, ...rows.map(({ startMs, endMs }) => ({ from: Number(startMs), to: Number(endMs) }))])
    await yieldIfHeld(TURN_MS)
    const last = rows.at(-1)
    if (last === undefined || rows.length < ROWS_PER_QUERY) return busy
    after = Number(last.startMs)
  }
}
