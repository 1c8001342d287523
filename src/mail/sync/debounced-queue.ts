import { setImmediate as nextTurn } from 'node:timers/promises'
import { syncTotalsOfAll } from '../../accounts/cluster/index.ts'
import { type Accounts, accountQueries } from '../../accounts/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Db } from '../../platform/db/index.ts'
import type { RunState, RunTotals } from '../../platform/schedule/index.ts'
import type { Watch } from './account-work.ts'
import { RETRY_TOPIC, type Sync } from './scheduler.ts'
import { type SyncStateRow, syncStateStore } from './store.ts'

export interface DebouncedQueueSources {
  db: Db
  bus: Bus
  instanceId: string
  accounts: Pick<Accounts, 'requestSync'>
  sync: Pick<Sync, 'state' | 'totals' | 'lagMs' | 'watch'>
}

export interface AccountRun extends RunState {
  /** How long the next successful check is overdue. Null while none is expected, and when another instance owns the account. */
  lagMs: number | null
  /** How the service learns of changes. Null while there is no session, and when another instance owns the account. */
  watch: Watch | null
}

/** Sync state of accounts across all instances. */
export interface DebouncedQueue {
  /** Current totals of this process plus those of the others as of their last heartbeat. */
  status(): Promise<RunTotals>
  /** Current state when this process owns the account, otherwise the last stored state. */
  account(accountId: string): Promise<AccountRun>
  /** As `account`, by account. */
  accounts(accountIds: readonly string[]): Promise<Map<string, AccountRun>>
  /** Resets failures and delays, and requests a sync of every account that is not paused or in `auth_error`. Returns their number. */
  clear(): Promise<number>
}

const BATCH = 200

export function debouncedQueue({ db, bus, instanceId, accounts, sync }: DebouncedQueueSources): DebouncedQueue {
  function toRun(accountId: string, row: SyncStateRow | undefined): AccountRun {
    const here = sync.state(accountId)
    const now = { lagMs: sync.lagMs(accountId), watch: sync.watch(accountId) ?? null }
    if (here !== undefined && here.lastRunAt !== null) return { ...here, ...now }
    const { attempts = 0, lastRunAt = null, nextRunAt = null, lastError = null } = row ?? {}
    const stored = { attempts, lastRunAt, lastError }
    if (here !== undefined) return { ...here, ...stored, ...now }
    return { state: nextRunAt === null ? 'idle' : 'waiting', nextRunAt, ...stored, ...now }
  }

  return {
    async status() {
      const others = await syncTotalsOfAll(db.read)
      others.delete(instanceId)
      const all = [sync.totals(), ...others.values()]
      const sum = (of: keyof RunTotals) => all.reduce((total, totals) => total + totals[of], 0)
      return {
        accounts: sum('accounts'),
        waiting: sum('waiting'),
        active: sum('active'),
        delayed: sum('delayed'),
        completed: sum('completed'),
        failed: sum('failed'),
      }
    },

    async account(accountId) {
      return toRun(accountId, await syncStateStore(db.read).find(accountId))
    },

    async accounts(accountIds) {
      const rows = await syncStateStore(db.read).findAll(accountIds)
      return new Map(accountIds.map((accountId) => [accountId, toRun(accountId, rows.get(accountId))]))
    },

    async clear() {
      let cleared = 0
      for (let after = ''; ; ) {
        const ids = await accountQueries(db.read).syncable(after, BATCH)
        const last = ids.at(-1)
        if (last === undefined) break
        await db.transaction((tx) => accounts.requestSync(tx, ids, 'everything'))
        cleared += ids.length
        after = last
        // SQLite transactions are synchronous: yield so that requests are served between them.
        await nextTurn()
      }
      bus.publish(RETRY_TOPIC, '')
      return cleared
    },
  }
}
