import { type Db, insertRows } from '../../../src/platform/db/index.ts'
import type { TimeRange } from '../../../src/providers/contract/index.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const YEAR_MS = 366 * DAY_MS

/** The calendar of an account after a sync, with a window of three years. Returns its id. */
export async function storeCalendar(db: Db, accountId: string, nowMs: number, syncedAt = nowMs): Promise<string> {
  const id = toCalendarId(accountId)
  const window = { from: nowMs - 3 * YEAR_MS, to: nowMs + 3 * YEAR_MS }
  await db.transaction(async (tx) => {
    await tx.insertInto('calendarListings').values({ accountId, listedAt: nowMs }).execute()
    await insertRows(tx, 'calendars', [
      {
        id,
        accountId,
        providerId: '/work/',
        summary: 'Work',
        description: '',
        timeZone: 'UTC',
        backgroundColor: null,
        foregroundColor: null,
        role: 'owner' as const,
        isPrimary: 1,
        isSelected: 1,
        cursor: null,
        round: 1,
        isComparing: 0,
        syncedAt,
        apiDeletion: 0,
        unreadable: 0,
        failures: 0,
        failureReason: null,
        failingSince: null,
        retryAt: null,
        windowFrom: window.from,
        windowTo: window.to,
        listedFrom: window.from,
        listedTo: window.to,
        createdAt: nowMs,
        updatedAt: nowMs,
      },
    ])
  })
  return id
}

/** Single events that make the calendar busy. Returns their ids. */
export async function storeBusy(db: Db, calendarId: string, ranges: readonly TimeRange[]): Promise<string[]> {
  const rows = ranges.map(({ from, to }, index) => {
    const row = {
      eventId: `cev_${calendarId}_${from}_${index}`,
      calendarId,
      originalStart: '',
      startMs: from,
      endMs: to,
    }
    return { ...row, isLong: Number(to - from > DAY_MS), isBusy: 1, isFloating: 0 }
  })
  await db.transaction((tx) => insertRows(tx, 'calendarInstances', rows))
  return rows.map(({ eventId }) => eventId)
}

/** Derives the calendar's id for an account whose calendar is stored. */
export function toCalendarId(accountId: string): string {
  return accountId.replace('acc_', 'cal_')
}
