import { backoffMs } from '../platform/concurrency/retry.ts'
import { type Handle, insertRows, type Tx } from '../platform/db/index.ts'
import { truncateText } from '../platform/formats/text.ts'
import type { UnreadableEvent } from '../providers/contract/index.ts'
import type { CalendarRow } from './store.ts'

/** How many are kept of a calendar; a program that writes more writes all of them alike. */
const MAX_EVENTS = 1000
/** How many the JSON of a calendar names. */
const MAX_SHOWN = 10
const MAX_REASON = 300
/** How many events of a calendar a sync reads again. */
const MAX_AGAIN = 20
const RETRY = { baseMs: 10_000, capMs: 6 * 3_600_000 }
const IDS_PER_QUERY = 500

type Place = Pick<CalendarRow, 'id' | 'round' | 'unreadable'>

/**
 * Stores which events could not be read. `read` are ids of those that could, or are gone. Returns those whose reason is new.
 */
export async function saveUnreadable(
  tx: Tx,
  calendar: Place,
  { read, unreadable }: { read: readonly string[]; unreadable: readonly UnreadableEvent[] },
  nowMs: number,
): Promise<UnreadableEvent[]> {
  if (calendar.unreadable === 0 && unreadable.length === 0) return []
  const events = new Map(unreadable.map((event) => [event.eventId, event]))
  const earlier = await findStored(tx, calendar.id, [...events.keys()])
  await removeUnreadable(tx, calendar.id, [...read, ...earlier.keys()])
  const left = MAX_EVENTS - (await countUnreadable(tx, calendar.id))
  const kept = [...events.values()].slice(0, Math.max(0, left))
  const rows = kept.map(({ eventId, reason, isRefused }) => {
    const failures = isRefused ? (earlier.get(eventId)?.failures ?? 0) + 1 : 0
    return {
      calendarId: calendar.id,
      round: calendar.round,
      foundAt: nowMs,
      providerId: eventId,
      reason: truncateText(reason, MAX_REASON),
      failures,
      nextAttemptAt: failures === 0 ? null : nowMs + backoffMs(failures, RETRY),
    }
  })
  await insertRows(tx, 'unreadableEvents', rows)
  await countAgain(tx, calendar.id)
  return rows.flatMap(({ providerId, reason }) =>
    earlier.get(providerId)?.reason === reason ? [] : [{ eventId: providerId, reason }],
  )
}

/** Ids of events that the provider did not return, and that are read again now. */
export async function eventsToReadAgain(
  handle: Handle,
  { id, unreadable }: Pick<CalendarRow, 'id' | 'unreadable'>,
  nowMs: number,
): Promise<string[]> {
  if (unreadable === 0) return []
  const rows = await handle
    .selectFrom('unreadableEvents')
    .select('providerId')
    .where('calendarId', '=', id)
    .where('nextAttemptAt', '<=', nowMs)
    .orderBy('nextAttemptAt')
    .limit(MAX_AGAIN)
    .execute()
  return rows.map(({ providerId }) => providerId)
}

/** Removes what rounds before `round` could not read, because it no longer exists. */
export async function removeUnreadableBefore(tx: Tx, calendarId: string, round: number): Promise<void> {
  await tx.deleteFrom('unreadableEvents').where('calendarId', '=', calendarId).where('round', '<', round).execute()
  await countAgain(tx, calendarId)
}

/** Some of each calendar that has any. */
export async function readUnreadable(
  handle: Handle,
  calendars: readonly Pick<CalendarRow, 'id' | 'unreadable'>[],
): Promise<Map<string, { providerEventId: string; reason: string }[]>> {
  const found = new Map<string, { providerEventId: string; reason: string }[]>()
  for (const { id } of calendars.filter(({ unreadable }) => unreadable > 0)) {
    const rows = await handle
      .selectFrom('unreadableEvents')
      .select(['providerId as providerEventId', 'reason'])
      .where('calendarId', '=', id)
      .orderBy('providerId')
      .limit(MAX_SHOWN)
      .execute()
    found.set(id, rows)
  }
  return found
}

interface Known {
  reason: string
  failures: number
}

async function findStored(tx: Tx, calendarId: string, ids: readonly string[]): Promise<Map<string, Known>> {
  const found = new Map<string, Known>()
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const rows = await tx
      .selectFrom('unreadableEvents')
      .select(['providerId', 'reason', 'failures'])
      .where('calendarId', '=', calendarId)
      .where('providerId', 'in', ids.slice(start, start + IDS_PER_QUERY))
      .execute()
    for (const { providerId, ...row } of rows) found.set(providerId, row)
  }
  return found
}

async function removeUnreadable(tx: Tx, calendarId: string, ids: readonly string[]): Promise<void> {
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    await tx
      .deleteFrom('unreadableEvents')
      .where('calendarId', '=', calendarId)
      .where('providerId', 'in', ids.slice(start, start + IDS_PER_QUERY))
      .execute()
  }
}

async function countUnreadable(tx: Tx, calendarId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('unreadableEvents')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('calendarId', '=', calendarId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

async function countAgain(tx: Tx, calendarId: string): Promise<void> {
  const unreadable = await countUnreadable(tx, calendarId)
  await tx.updateTable('calendars').set({ unreadable }).where('id', '=', calendarId).execute()
}
