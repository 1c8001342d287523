import type { Log } from '../../../infra/log/index.ts'
import type { Ownership } from '../account.ts'

/** Logs which accounts this instance gained and lost, one entry per round, with counts. */
export function logOwnership(ownership: Pick<Ownership, 'onChange' | 'owned'>, log: Log): void {
  ownership.onChange(({ gained, lost }) => {
    if (gained.length + lost.length === 0) return
    const [only] = [...gained, ...lost]
    log.info(`This instance took ${gained.length} accounts and gave up ${lost.length}.`, {
      operation: 'accounts.ownership',
      ...(gained.length + lost.length === 1 && { accountId: only }),
      metadata: { gained: gained.length, lost: lost.length, owned: ownership.owned().size },
    })
  })
}
