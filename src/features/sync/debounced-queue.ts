import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Bus } from '../../infra/bus/index.ts'
import type { Db } from '../../infra/db/index.ts'
import { type Accounts, type RunState, type RunTotals, syncableAccounts, syncTotalsOfAll } from '../accounts/index.ts'
import { RETRY_TOPIC, type Sync } from './scheduler.ts'
import { syncStateStore } from './store.ts'

export interface DebouncedQueueSources {
  db: Db
  bus: Bus
  instanceId: string
  accounts: Pick<Accounts, 'requestSync'>
  sync: Pick<Sync, 'state' | 'totals' | 'lagMs'>
}

/** Sync state of accounts across all instances. */
export interface DebouncedQueue {
  /** Current totals of this process plus those of the others as of their last heartbeat. */
  status(): Promise<RunTotals>
  /** Current state when this process owns the account, otherwise the last stored state. */
  account(accountId: string): Promise<RunState & { lagMs: number | null }>
  /** Resets failures and delays, and requests a sync of every account that is not paused or in `auth_error`. Returns their number. */
  clear(): Promise<number>
}

const BATCH = 200

export function debouncedQueue({ db, bus, instanceId, accounts, sync }: DebouncedQueueSources): DebouncedQueue {
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
      const here = sync.state(accountId)
      const lagMs = sync.lagMs(accountId)
      if (here !== undefined && here.lastRunAt !== null) return { ...here, lagMs }
      const row = await syncStateStore(db.read).find(accountId)
      const { attempts = 0, lastRunAt = null, nextRunAt = null, lastError = null } = row ?? {}
      const stored = { attempts, lastRunAt, lastError }
      if (here !== undefined) return { ...here, ...stored, lagMs }
      return { state: nextRunAt === null ? 'idle' : 'waiting', nextRunAt, ...stored, lagMs }
    },

    async clear() {
      let cleared = 0
      for (let after = ''; ; ) {
        const ids = await syncableAccounts(db.read, after, BATCH)
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
