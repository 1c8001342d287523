import { sql } from 'kysely'
import type { Bus } from '../../platform/bus/index.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import type { SyncScope } from '../identity/account.ts'

/** The bus topic of requested syncs. The payload is the scope, a space, and comma-separated account ids. */
export const SYNC_TOPIC = 'accounts.sync'
/** A bus payload may have up to 4 KB. */
const IDS_PER_HINT = 100

/** Writes `accounts.syncRequestedAt` and publishes hints; the contract is that of `Accounts.requestSync`. */
export function syncRequests({ db, bus }: { db: Db; bus: Bus }) {
  const { nowMs, forUpdate } = db.dialect
  return {
    async request(tx: Tx, accountIds: readonly string[], scope: SyncScope): Promise<void> {
      if (accountIds.length === 0) return
      // One lock order for transactions that request several accounts.
      await tx
        .selectFrom('accounts')
        .select('id')
        .where('id', 'in', accountIds)
        .orderBy('id')
        .modifyEnd(forUpdate)
        .execute()
      await tx
        .updateTable('accounts')
        .set({
          syncRequestedAt: sql<number>`case when coalesce("syncRequestedAt", 0) >= ${nowMs}
            then "syncRequestedAt" + 1 else ${nowMs} end`,
        })
        .where('id', 'in', accountIds)
        .execute()
      tx.afterCommit(() => {
        for (let start = 0; start < accountIds.length; start += IDS_PER_HINT) {
          const ids = accountIds.slice(start, start + IDS_PER_HINT)
          bus.publish(SYNC_TOPIC, `${scope} ${ids.join(',')}`)
        }
      })
    },

    async clear(tx: Tx, accountId: string, requestedAt: number): Promise<void> {
      await tx
        .updateTable('accounts')
        .set({ syncRequestedAt: null })
        .where('id', '=', accountId)
        .where('syncRequestedAt', '=', requestedAt)
        .execute()
    },
  }
}

/** Parses a hint. An invalid one has no account ids. */
export function readSyncHint(payload: string): { scope: SyncScope; accountIds: string[] } {
  const [scope, ids = ''] = payload.split(' ')
  const validScope = scope === 'changes' || scope === 'now' ? scope : 'everything'
  return { scope: validScope, accountIds: ids.split(',').filter((id) => id !== '') }
}
