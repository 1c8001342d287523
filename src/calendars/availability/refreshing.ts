import { LRUCache } from 'lru-cache'
import type { Bus } from '../../platform/bus/index.ts'
import { atMost } from '../../platform/lru.ts'
import type { Clock } from '../../platform/time/clock.ts'

/** Bus topic: old busy times of this account were shown. */
export const CALENDAR_REFRESH_TOPIC = 'calendars.refresh'

/** Stored busy times that are older are shown, and read again in the background. */
const OLD_MS = 60_000
const MAX_ACCOUNTS = 10_000

/** Asks the owner of an account to sync its calendars, at most once a minute. `syncedAt`: of the busy times that were shown. */
export function calendarRefreshing({ bus, clock }: { bus: Pick<Bus, 'publish'>; clock: Clock }) {
  const askedAt = new LRUCache<string, number>(atMost(MAX_ACCOUNTS))
  return (accountId: string, syncedAt: number): void => {
    if (clock.now() - syncedAt <= OLD_MS) return
    const now = clock.monotonic()
    if (now - (askedAt.get(accountId) ?? Number.NEGATIVE_INFINITY) < OLD_MS) return
    askedAt.set(accountId, now)
    bus.publish(CALENDAR_REFRESH_TOPIC, accountId)
  }
}
