import { type Handle, insertRows, type Tx } from '../../infra/db/index.ts'
import { truncateText } from '../../lib/text.ts'
import type { UnreadableEvent } from '../../providers/contract/index.ts'
import type { CalendarRow } from './store.ts'

/** How many are kept of a calendar; a program that writes more writes all of them alike. */
const MAX_EVENTS = 1000
/** How many the JSON of a calendar names. */
const MAX_SHOWN = 10
const MAX_REASON = 300
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
  const reasons = new Map(unreadable.map(({ eventId, reason }) => [eventId, truncateText(reason, MAX_REASON)]))
  const known = await reasonsOf(tx, calendar.id, [...reasons.keys()])
  await removeUnreadable(tx, calendar.id, [...read, ...known.keys()])
  const left = MAX_EVENTS - (await countUnreadable(tx, calendar.id))
  const kept = [...reasons].slice(0, Math.max(0, left))
  const place = { calendarId: calendar.id, round: calendar.round, foundAt: nowMs }
  await insertRows(
    tx,
    'unreadableEvents',
    kept.map(([providerId, reason]) => ({ ...place, providerId, reason })),
  )
  await countAgain(tx, calendar.id)
  return kept.flatMap(([eventId, reason]) => (known.get(eventId) === reason ? [] : [{ eventId, reason }]))
}

/** Of rounds before `round`: what they could not read no longer exists. */
export async function removeUnreadableBefore(tx: Tx, calendarId: string, round: number): Promise<void> {
  await tx.deleteFrom('unreadableEvents').where('calendarId', '=', calendarId).where('round', '<', round).execute()
  await countAgain(tx, calendarId)
}

/** Some of each calendar that has any. */
export async function unreadableOf(
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

async function reasonsOf(tx: Tx, calendarId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const rows = await tx
      .selectFrom('unreadableEvents')
      .select(['providerId', 'reason'])
      .where('calendarId', '=', calendarId)
      .where('providerId', 'in', ids.slice(start, start + IDS_PER_QUERY))
      .execute()
    for (const { providerId, reason } of rows) found.set(providerId, reason)
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
