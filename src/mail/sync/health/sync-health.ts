import { syncTotalsOfAll } from '../../../accounts/cluster/index.ts'
import { accountQueries, type Ownership } from '../../../accounts/index.ts'
import type { Db } from '../../../platform/db/index.ts'
import type { Sync } from '../scheduler.ts'

/** Whether the accounts of all instances are synced, for health and metrics. */
export interface SyncHealth {
  /** Accounts for which `account.sync_stalled` was recorded and not yet `account.recovered`. Paused ones do not count. */
  stalledAccounts: number
  /** Accounts that no running instance owns. More than 0 for a moment while accounts move. */
  unownedAccounts: number
  /** How long the check of an account is overdue, at most; as of the last heartbeats. */
  greatestLagMs: number
}

interface SyncHealthDeps {
  db: Db
  ownership: Pick<Ownership, 'instanceId' | 'unowned'>
  sync: Pick<Sync, 'totals'>
}

/** Reads two small sets of rows. Rejects while the database is not available. */
export async function readSyncHealth({ db, ownership, sync }: SyncHealthDeps): Promise<SyncHealth> {
  const [stalledAccounts, others] = await Promise.all([
    accountQueries(db.read).countStalled(),
    syncTotalsOfAll(db.read),
  ])
  others.delete(ownership.instanceId)
  const lags = [sync.totals(), ...others.values()].map((totals) => totals.greatestLagMs ?? 0)
  return { stalledAccounts, unownedAccounts: ownership.unowned(), greatestLagMs: Math.max(...lags) }
}
