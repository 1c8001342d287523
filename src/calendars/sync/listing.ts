import { newCalendarRow, sameListing } from '../calendar-row.ts'
import { calendarStore, isIndexable, saveListing } from '../store.ts'
import { unreadableEvents } from '../unreadable.ts'
import type { AccountCalendarsDeps, OwnedCalendars } from './owned-calendars.ts'
import { removeEvents } from './removal.ts'

/** Stores the calendars as the provider lists them, and removes those that are gone, with their events. */
export async function listCalendars(deps: AccountCalendarsDeps, owned: OwnedCalendars): Promise<void> {
  const { db, ids, clock, fence } = deps
  const { accountId, epoch, remote, signal } = owned
  const isKnown = (await calendarStore(db.read).all(accountId)).length > 0
  const all = await remote.listCalendars(signal, isKnown)
  const listed = all.filter(({ calendarId }) => isIndexable(calendarId))
  const nowMs = clock.now()
  const gone = await db.transaction(async (tx) => {
    await fence(tx, accountId, epoch)
    const stored = new Map((await calendarStore(tx).all(accountId)).map((row) => [row.providerId, row]))
    const rows = listed.map((calendar) =>
      newCalendarRow(calendar, { id: ids('cal'), accountId, nowMs }, stored.get(calendar.calendarId)),
    )
    await saveListing(tx, accountId, nowMs, {
      inserted: rows.filter(({ providerId }) => !stored.has(providerId)),
      updated: rows.filter((row) => {
        const before = stored.get(row.providerId)
        return before !== undefined && !sameListing(before, row)
      }),
    })
    const current = new Set(listed.map(({ calendarId }) => calendarId))
    return [...stored.values()].filter((row) => !current.has(row.providerId))
  })
  for (const calendar of gone) {
    await removeEvents(deps, owned, calendar, Number.MAX_SAFE_INTEGER)
    await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      await unreadableEvents.removeBefore(tx, calendar.id, Number.MAX_SAFE_INTEGER)
      await tx.deleteFrom('calendars').where('id', '=', calendar.id).execute()
    })
  }
}
