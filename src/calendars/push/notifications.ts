import type { Bus } from '../../platform/bus/index.ts'
import { isClientState } from '../../platform/crypto/client-state.ts'
import type { Db } from '../../platform/db/index.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import { type CalendarSubscription, calendarSubscriptionStore } from './store.ts'

interface CalendarNotification {
  subscriptionId: string
  /** The secret of the subscription, as the sender knows it. */
  clientState?: string | null | undefined
  /** Set by Graph when something happened to the subscription itself. */
  lifecycleEvent?: string | undefined
}

/** Bus topic: a calendar of this account has changed. */
export const CALENDAR_CHANGES_TOPIC = 'calendars.changed'

/**
 * Accepts notifications that calendars have changed. Resolves after the commit, so that a notification that is acknowledged is not
 * lost. Further ones until the next sync begins cost one lookup.
 */
export function calendarNotifications({ db, bus }: { db: Db; bus: Bus }) {
  return {
    /** Returns how many belong to no subscription, or have the wrong secret. */
    async accept(provider: ProviderName, all: readonly CalendarNotification[]): Promise<number> {
      const ids = [...new Set(all.map(({ subscriptionId }) => subscriptionId))]
      const rows = await calendarSubscriptionStore(db.read).bySubscription(provider, ids)
      const bySubscription = new Map(rows.map((row) => [row.subscriptionId, row]))
      const changed = new Set<CalendarSubscription>()
      const due = new Map<CalendarSubscription, { isRemoved: boolean }>()
      let rejected = 0
      for (const { subscriptionId, clientState, lifecycleEvent } of all) {
        const row = bySubscription.get(subscriptionId)
        if (row === undefined || !isClientState(clientState, row.clientStateHash)) rejected += 1
        else if (lifecycleEvent === 'subscriptionRemoved') due.set(row, { isRemoved: true })
        else if (lifecycleEvent === 'reauthorizationRequired') due.set(row, due.get(row) ?? { isRemoved: false })
        else if (row.isNotified === 0) changed.add(row)
      }
      if (changed.size + due.size === 0) return rejected
      await db.transaction(async (tx) => {
        const store = calendarSubscriptionStore(tx)
        for (const row of changed) await store.setNotified(row)
        for (const [row, { isRemoved }] of due) await store.markDue(row, isRemoved)
        tx.afterCommit(() => {
          const accountIds = new Set([...changed, ...due.keys()].map(({ accountId }) => accountId))
          for (const accountId of accountIds) bus.publish(CALENDAR_CHANGES_TOPIC, accountId)
        })
      })
      return rejected
    },
  }
}

export type CalendarNotifications = ReturnType<typeof calendarNotifications>
