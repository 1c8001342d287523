import { erasure as createErasure, revocations } from '../../accounts/index.ts'
import { lazy } from '../../platform/concurrency/lazy.ts'
import { erasures, purgeRules } from '../feature-list.ts'
import { retentionJob } from '../retention-job.ts'
import type { Part } from '../start-stop.ts'
import type { Accounts } from './accounts.ts'
import type { Calendars } from './calendars.ts'
import type { Messages, Push } from './mail.ts'
import type { Shared } from './shared.ts'

/** Erases deleted accounts, and purges old rows, as the records of the features say. */
export function openDeletion(
  shared: Shared,
  { calendarRuns, connections, login, mailboxes, push, search }: Accounts & Push & Messages & Calendars,
) {
  const { revoke, findToken: findDeletedAccountToken } = revocations({
    ...shared,
    login,
    connectionTokens: connections.tokens,
  })
  const erasure = createErasure({
    ...shared,
    revoke,
    erase: erasures,
    async forget(accountId) {
      await mailboxes.closeConnections(accountId)
      // A provider may accept a refresh token only once.
      const findToken = lazy(() => findDeletedAccountToken(accountId))
      await Promise.all([
        push.endSubscription(accountId, findToken),
        calendarRuns.endSubscriptions(accountId, findToken),
      ])
      await search.forget(accountId)
    },
  })
  const retention = retentionJob({ ...shared, rules: purgeRules, settings: shared.config })

  const deletionParts: readonly Part[] = [
    { start: erasure.start, stop: erasure.stop, stopsWith: 'work' },
    { start: retention.start, stop: retention.stop, stopsWith: 'work' },
  ]
  return { deletionParts }
}
