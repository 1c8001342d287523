import type { Account, Accounts } from '../../accounts/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Db } from '../../platform/db/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type CalendarAccount,
  type CalendarProvider,
  mergeRanges,
  ProviderError,
  type ProviderName,
  type TimeRange,
} from '../../providers/contract/index.ts'
import { storedRange } from '../calendar-row.ts'
import { readLiveRange } from '../read/live-range.ts'
import type { CalendarRow } from '../store.ts'
import type { Known } from './api.ts'
import { calendarRefreshing } from './refreshing.ts'
import { storedBusy } from './stored-busy.ts'

export interface AccountBusyDeps {
  db: Db
  bus: Pick<Bus, 'publish'>
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

/** The greatest age of stored events. Older ones are read from the provider, because a stopped sync must not show busy times as free. */
const MAX_AGE_MS = 60 * 60 * 1000
/** In one request to the provider. */
const MAX_IDS = 50

type Unknown = Extract<Known, { reason: unknown }>
type Live = TimeRange[] | Unknown

/** Reads when an account, or somebody whom its user may see, is busy. Throws `ProviderError`. */
export function accountBusy({ db, bus, clock, accounts, calendars }: AccountBusyDeps) {
  const refresh = calendarRefreshing({ bus, clock })
  return {
    /** Finds the busy times in calendars of one account, together. */
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
        for (const range of await storedBusy(db.read, row, asked)) busy.push(range)
        syncedAt = Math.min(syncedAt, row.syncedAt)
      }
      if (live.length > 0) {
        const found = await liveBusy(account, live, asked).catch((error: unknown) => {
          // Sync cannot read this calendar either, so the failure says nothing about the account.
          const isKnown = account.status !== 'auth_error' && live.some(({ failures }) => failures > 0)
          if (!(error instanceof ProviderError) || !isKnown) throw error
          return { reason: 'unavailable' } as const
        })
        if ('reason' in found) return found
        for (const range of found) busy.push(range)
      }
      refresh(account.id, syncedAt)
      return { busy: mergeRanges(busy), source: live.length === 0 ? 'stored' : 'provider', syncedAt }
    },

    /** Finds the busy times behind addresses, as the account's user sees them. */
    async ofAddresses(account: Account, addresses: readonly string[], asked: Asked): Promise<Known[]> {
      const { reader } = await openProvider(account)
      const { range, floatingZone: timeZone, signal } = asked
      const results = await reader?.freeBusy({ ids: [...addresses], range, timeZone, signal })
      return addresses.map((_, index) => {
        const { busy = [], error = 'unavailable' } = results?.[index] ?? {}
        return error === null ? { busy, source: 'provider', syncedAt: clock.now() } : { reason: error }
      })
    },
  }

  /** Throws errors that say nothing about the calendars. */
  async function liveBusy(account: Account, rows: readonly CalendarRow[], asked: Asked): Promise<Live> {
    const { reader, open } = await openProvider(account)
    // Busy times are merged, and do not say which event makes a time busy.
    const read = reader === undefined ? rows : await findCalendars(rows, asked.exceptEventIds ?? [])
    const queried = rows.filter((row) => !read.includes(row))
    const busy: TimeRange[] = []
    for (const row of read) {
      const found = await eventsIn(row, open(), asked)
      if ('reason' in found) return found
      for (const range of found) busy.push(range)
    }
    for (const [timeZone, ids] of byZone(queried, asked.floatingZone)) {
      const results = await reader?.freeBusy({ ids, range: asked.range, timeZone, signal: asked.signal })
      for (const { busy: times, error } of results ?? []) {
        if (error !== null) return { reason: error }
        for (const range of times) busy.push(range)
      }
    }
    return busy
  }

  /** Busy times of single events. */
  async function eventsIn(row: CalendarRow, remote: CalendarAccount, asked: Asked): Promise<Live> {
    const { range, floatingZone, exceptEventIds = [], signal } = asked
    const calendar = { ...row, timeZone: row.timeZone ?? floatingZone }
    const all = { calendarId: row.id, range, isExpanded: true, words: [], order: 'startTime' as const }
    const live = { ...all, calendar, nowMs: clock.now(), signal }
    const found = await readLiveRange(db.read, remote, live).catch(toUnknown)
    if (found === undefined) return { reason: 'unavailable' }
    if ('reason' in found) return found
    const counts = found.filter(({ id, isBusy }) => isBusy === 1 && !exceptEventIds.includes(id))
    return counts.map(({ startMs, endMs }) => ({ from: startMs, to: endMs }))
  }

  /** The calendars that have one of the events. */
  async function findCalendars(rows: readonly CalendarRow[], eventIds: readonly string[]): Promise<CalendarRow[]> {
    if (eventIds.length === 0) return []
    const found = await db.read.selectFrom('calendarEvents').select('calendarId').where('id', 'in', eventIds).execute()
    const ids = new Set(found.map(({ calendarId }) => calendarId))
    return rows.filter(({ id }) => ids.has(id))
  }

  async function openProvider(account: Account) {
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

/** The provider's ids by the zone of their calendars, in lists for one request each. */
function byZone(rows: readonly CalendarRow[], floatingZone: string): [timeZone: string, ids: string[]][] {
  const lists: [string, string[]][] = []
  for (const { timeZone, providerId } of rows) {
    const zone = timeZone ?? floatingZone
    const open = lists.find(([name, ids]) => name === zone && ids.length < MAX_IDS)
    if (open === undefined) lists.push([zone, [providerId]])
    else open[1].push(providerId)
  }
  return lists
}

/** Throws errors that say nothing about the calendar. */
function toUnknown(error: unknown): Unknown {
  if (error instanceof ProviderError && error.kind === 'not_found') return { reason: 'not_found' }
  if (error instanceof ProviderError && error.kind === 'rejected' && !error.missingScope)
    return { reason: 'unavailable' }
  throw error
}

function isCurrent(row: CalendarRow, { from, to }: TimeRange, nowMs: number): boolean {
  const stored = storedRange(row)
  return from >= stored.from && to <= stored.to && nowMs - (row.syncedAt ?? 0) <= MAX_AGE_MS
}
