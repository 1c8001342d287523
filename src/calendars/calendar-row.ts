import type { RemoteCalendar, TimeRange } from '../providers/contract/index.ts'
import type { CalendarRow } from './store.ts'

/** The row of a listed calendar. A known one keeps its id and its state. */
export function newCalendarRow(
  remote: RemoteCalendar,
  { id, accountId, nowMs }: { id: string; accountId: string; nowMs: number },
  stored?: CalendarRow,
): CalendarRow {
  const state = stored ?? {
    id,
    accountId,
    cursor: null,
    round: 0,
    isComparing: 0,
    windowFrom: 0,
    windowTo: 0,
    listedFrom: 0,
    listedTo: 0,
    syncedAt: null,
    apiDeletion: 0,
    unreadable: 0,
    createdAt: nowMs,
    failures: 0,
    failureReason: null,
    failingSince: null,
    retryAt: null,
  }
  return {
    ...state,
    providerId: remote.calendarId,
    summary: remote.summary,
    description: remote.description,
    timeZone: remote.timeZone,
    backgroundColor: remote.backgroundColor,
    foregroundColor: remote.foregroundColor,
    role: remote.role,
    isPrimary: Number(remote.primary),
    isSelected: Number(remote.selected),
    // Floating times and days are read in this zone: the instances are computed anew, and until then none is shown.
    ...(stored !== undefined && stored.timeZone !== remote.timeZone && { windowFrom: stored.windowTo }),
    updatedAt: nowMs,
  }
}

/** The time range in which lists can be read from the database. */
export function storedRange({ windowFrom, windowTo, listedFrom, listedTo }: CalendarRow): TimeRange {
  return { from: Math.max(windowFrom, listedFrom), to: Math.min(windowTo, listedTo) }
}

/** Whether a listing changed nothing. */
export function sameListing(before: CalendarRow, after: CalendarRow): boolean {
  const shown = ({ updatedAt: _, ...rest }: CalendarRow) => JSON.stringify(rest, Object.keys(rest).sort())
  return shown(before) === shown(after)
}
