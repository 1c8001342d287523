import type { Account, Accounts } from '../../accounts/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { missingFor } from '../../providers/contract/index.ts'
import type { CalendarReader } from '../read/reader.ts'
import { type CalendarRow, calendarStore } from '../store.ts'
import type { AccountBusy, Asked } from './account-busy.ts'
import type { Known } from './api.ts'

export interface OwnTimesDeps {
  db: Db
  accounts: Pick<Accounts, 'get'>
  lists: Pick<CalendarReader, 'list'>
  busy: AccountBusy
}

/** When accounts are busy in their own calendars: the primary one, and the selected ones that they own. */
export function ownTimes({ db, accounts, lists, busy }: OwnTimesDeps) {
  return {
    findAccount: (id: string): Promise<Account | undefined> => ifFound(() => accounts.get(id)),

    /** Undefined: the account has no calendars. Throws the errors of providers. */
    async read(account: Account, asked: Asked): Promise<Known | undefined> {
      const stored = await calendarStore(db.read).all(account.id)
      // The calendars of a new account may not be stored yet.
      const calendars = stored.length > 0 ? stored : (await lists.list(account.id)).rows
      const own = calendars.filter(isOwn)
      return own.length === 0 ? undefined : busy.ofCalendars(account, own, asked)
    },
  }
}

export type OwnTimes = ReturnType<typeof ownTimes>

export async function ifFound(get: () => Promise<Account>): Promise<Account | undefined> {
  try {
    return await get()
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined
    throw error
  }
}

/** Whether the user granted access to the calendars. */
export function mayRead({ provider, tokens }: Account): boolean {
  return !tokens.hasRefreshToken || missingFor(provider, tokens.scopes, ['calendar.read']).length === 0
}

function isOwn({ isPrimary, isSelected, role }: CalendarRow): boolean {
  return isPrimary === 1 || (isSelected === 1 && role === 'owner')
}
