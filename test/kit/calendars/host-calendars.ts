import { onTestFinished } from 'vitest'
import type { LinkAccount } from '../../../src/accounts/index.ts'
import { builtInSlots } from '../../../src/booking/slots/open-hours/built-in-slots.ts'
import { loadConfig } from '../../../src/config/index.ts'
import type { Db } from '../../../src/platform/db/index.ts'
import type { Clock } from '../../../src/platform/time/clock.ts'
import type { TimeRange } from '../../../src/providers/contract/index.ts'
import { imapLink, imapUser } from '../accounts/accounts.ts'
import { compose } from '../service/composition.ts'
import { memoryLog } from '../service/memory-log.ts'
import { storeBusy, storeCalendar } from './stored-calendar.ts'

export interface HostOptions {
  clock: Clock
  environment?: Record<string, string>
}

/** The built-in slots on a database, with accounts whose calendars are rows of it. */
export function hostCalendars(db: Db, { clock, environment = {} }: HostOptions) {
  const memory = memoryLog()
  const { config } = loadConfig({ environment, folder: '/nowhere' })
  const composition = compose(db, { clock, settings: config, log: memory.log })
  onTestFinished(() => composition.close())
  const { accounts, availability } = composition.features
  const connect = async (link: Partial<LinkAccount>): Promise<string> =>
    (await db.transaction((tx) => accounts.link(tx, imapLink(link)))).id
  return {
    accounts,
    log: memory,
    finder: builtInSlots({ db, clock, log: memory.log, readBusy: availability.readBusy }),
    readBusy: availability.readBusy,
    connect,

    /** An account with one calendar, which was synced just now. */
    async connectHost(name: string, syncedAt?: number): Promise<string> {
      const accountId = await connect(imapUser(name))
      await storeCalendar(db, accountId, clock.now(), syncedAt)
      return accountId
    },

    addBusy: (calendarId: string, ranges: readonly TimeRange[]) => storeBusy(db, calendarId, ranges),
  }
}
