import type { Db } from '../../../infra/db/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import {
  type CalendarProvider,
  mergeRanges,
  ProviderError,
  type ProviderName,
  type TimeRange,
} from '../../../providers/contract/index.ts'
import type { Account, Accounts } from '../../accounts/index.ts'
import { storedRange } from '../calendar-row.ts'
import { readLiveRange } from '../reading/live-range.ts'
import type { CalendarRow } from '../store.ts'
import type { Known } from './api.ts'
import { storedBusy } from './stored-busy.ts'

export interface AccountBusyDeps {
  db: Db
  clock: Clock
  accounts: Pick<Accounts, 'access'>
  calendars(provider: ProviderName): CalendarProvider
}

export interface Asked {
  range: TimeRange
  /** From the provider, whatever is stored. */
  isFresh: boolean
  /** IANA: where events take place whose calendar does not say it. */
  floatingZone: string
  /** Events, by our ids, that do not count. */
  exceptEventIds?: readonly string[]
  signal: AbortSignal
}

/** What is stored and older is read from the provider: a stopped sync must not show busy times as free. */
const MAX_AGE_MS = 60 * 60 * 1000
/** In one request to the provider. */
const MAX_IDS = 50

/** Reads when an account, or somebody whom its user may see, is busy. Throws `ProviderError`. */
export function accountBusy({ db, clock, accounts, calendars }: AccountBusyDeps) {
  return {
    /** Of calendars of one account, together. */
    async ofCalendars(account: Account, rows: readonly CalendarRow[], asked: Asked): Promise<Known> {
      const nowMs = clock.now()
      const busy: TimeRange[] = []
      const live: CalendarRow[] = []
      let syncedAt = nowMs
      for (const row of rows) {
        if (asked.isFresh || row.syncedAt === null || !isCurrent(row, asked.range, nowMs)) {
          live.push(row)
          continue
        }
        busy.push(...(await storedBusy(db.read, row, asked)))
        syncedAt = Math.min(syncedAt, row.syncedAt)
      }
      if (live.length > 0) {
        const found = await liveBusy(account, live, asked)
        if ('reason' in found) return found
        busy.push(...found)
      }
      return { busy: mergeRanges(busy), source: live.length === 0 ? 'stored' : 'provider', syncedAt }
    },

    /** Of addresses, as the account's user sees them. */
    async ofAddresses(account: Account, addresses: readonly string[], asked: Asked): Promise<Known[]> {
      const { reader } = await providerOf(account)
      const { range, floatingZone: timeZone, signal } = asked
      const results = await reader?.freeBusy({ ids: [...addresses], range, timeZone, signal })
      return addresses.map((_, index) => {
        const { busy = [], error = 'unavailable' } = results?.[index] ?? {}
        return error === null ? { busy, source: 'provider', syncedAt: clock.now() } : { reason: error }
      })
    },
  }

  async function liveBusy(
    account: Account,
    rows: readonly CalendarRow[],
    { range, floatingZone, exceptEventIds = [], signal }: Asked,
  ): Promise<TimeRange[] | { reason: 'not_found' | 'unavailable' }> {
    const { reader, open } = await providerOf(account)
    const busy: TimeRange[] = []
    if (reader !== undefined) {
      const ids = rows.map(({ providerId }) => providerId)
      const timeZone = rows[0]?.timeZone ?? floatingZone
      for (let start = 0; start < ids.length; start += MAX_IDS) {
        const results = await reader.freeBusy({ ids: ids.slice(start, start + MAX_IDS), range, timeZone, signal })
        for (const { busy: times, error } of results) {
          if (error !== null) return { reason: error }
          busy.push(...times)
        }
      }
      return exceptEventIds.length === 0 ? busy : withoutRanges(busy, await spansOf(rows, exceptEventIds))
    }
    for (const row of rows) {
      const calendar = { ...row, timeZone: row.timeZone ?? floatingZone }
      const all = { calendarId: calendar.id, range, isExpanded: true, words: [], order: 'startTime' as const }
      const found = await readLiveRange(db.read, open(), { ...all, calendar, nowMs: clock.now(), signal }).catch(
        reasonOf,
      )
      if (found === undefined) return { reason: 'unavailable' }
      if ('reason' in found) return found
      for (const { id, startMs, endMs, isBusy } of found) {
        if (isBusy === 1 && !exceptEventIds.includes(id)) busy.push({ from: startMs, to: endMs })
      }
    }
    return busy
  }

  /** When events take place. Free/busy does not say which event makes a time busy. */
  async function spansOf(rows: readonly CalendarRow[], eventIds: readonly string[]): Promise<TimeRange[]> {
    const found = await db.read
      .selectFrom('calendarInstances')
      .select(['startMs', 'endMs'])
      .where('eventId', 'in', eventIds)
      .where(
        'calendarId',
        'in',
        rows.map(({ id }) => id),
      )
      .execute()
    return found.map(({ startMs, endMs }) => ({ from: startMs, to: endMs }))
  }

  async function providerOf(account: Account) {
    // Another login with refused credentials may make the server lock the account.
    if (account.status === 'auth_error') {
      throw new ProviderError('auth_expired', 'reading busy times: the provider refused the credentials')
    }
    const access = await accounts.access(account.id)
    const provider = calendars(account.provider)
    return { reader: provider.freeBusy?.(access), open: () => provider.open(access) }
  }
}

export type AccountBusy = ReturnType<typeof accountBusy>

function withoutRanges(ranges: readonly TimeRange[], removed: readonly TimeRange[]): TimeRange[] {
  let left = [...ranges]
  for (const { from, to } of removed) {
    left = left.flatMap((range) => [
      { from: range.from, to: Math.min(range.to, from) },
      { from: Math.max(range.from, to), to: range.to },
    ])
  }
  return left.filter(({ from, to }) => from < to)
}

/** Throws errors that say nothing about the calendar. */
function reasonOf(error: unknown): { reason: 'not_found' | 'unavailable' } {
  if (error instanceof ProviderError && error.kind === 'not_found') return { reason: 'not_found' }
  if (error instanceof ProviderError && error.kind === 'rejected' && !error.missingScope)
    return { reason: 'unavailable' }
  throw error
}

function isCurrent(row: CalendarRow, { from, to }: TimeRange, nowMs: number): boolean {
  const stored = storedRange(row)
  return from >= stored.from && to <= stored.to && nowMs - (row.syncedAt ?? 0) <= MAX_AGE_MS
}
