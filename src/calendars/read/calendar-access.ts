import { type Account, type Accounts, readLive, scopeChecks } from '../../accounts/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { notFound } from '../../platform/errors/app-error.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { CalendarProvider, Permission, ProviderName } from '../../providers/contract/index.ts'
import { newCalendarRow } from '../calendar-row.ts'
import { type CalendarRow, calendarStore, isIndexable, saveListing } from '../store.ts'

export interface CalendarAccessDeps {
  db: Db
  clock: Clock
  ids: Ids
  accounts: Pick<Accounts, 'resolve' | 'get' | 'access' | 'hold' | 'requestSync'>
  calendars(provider: ProviderName): CalendarProvider
}

/** How long a provider may take for one request. */
export const LIVE_MS = 30_000

/** Finds the calendars of an account for a request. Throws `not_found` and `consent_required`. */
export function calendarAccess(deps: CalendarAccessDeps) {
  const { db, clock, ids, accounts } = deps

  /** The account, whose calendars have been listed. */
  async function open(idOrAlias: string, permissions: readonly Permission[] = ['calendar.read']): Promise<Account> {
    const { id } = await accounts.resolve(db.read, idOrAlias)
    const account = await accounts.get(id)
    await scopeChecks.require(accounts, account, permissions)
    if ((await calendarStore(db.read).listedAt(id)) === undefined) await listNow(account)
    return account
  }

  /**
   * Before the first sync of a new account, until a mail server has calendars, and when a request asks for it. Stores those that are new; the
   * sync that follows removes those that are gone, with their events. Returns the ids that the provider listed.
   */
  async function listNow({ id: accountId, provider }: Account): Promise<ReadonlySet<string>> {
    const remote = deps.calendars(provider).open(await accounts.access(accountId))
    const isKnown = (await calendarStore(db.read).all(accountId)).length > 0
    const listed = await readLive('The account', () => remote.listCalendars(AbortSignal.timeout(LIVE_MS), isKnown))
    if (listed.length > 0) {
      await db.transaction(async (tx) => {
        await accounts.hold(tx, accountId)
        const nowMs = clock.now()
        const storedIds = new Set((await calendarStore(tx).all(accountId)).map(({ providerId }) => providerId))
        const inserted = listed
          .filter(({ calendarId }) => isIndexable(calendarId) && !storedIds.has(calendarId))
          .map((calendar) => newCalendarRow(calendar, { id: ids('cal'), accountId, nowMs }))
        await saveListing(tx, accountId, nowMs, { inserted, updated: [] })
        await accounts.requestSync(tx, [accountId], 'changes')
      })
    }
    return new Set(listed.map(({ calendarId }) => calendarId))
  }

  return {
    open,
    listNow,

    async openCalendar(
      idOrAlias: string,
      calendarId: string,
      permissions?: readonly Permission[],
    ): Promise<{ account: Account; calendar: CalendarRow }> {
      const account = await open(idOrAlias, permissions)
      const calendar = await calendarStore(db.read).find(account.id, calendarId)
      if (calendar === undefined) throw notFound('calendar', calendarId)
      return { account, calendar }
    },
  }
}
