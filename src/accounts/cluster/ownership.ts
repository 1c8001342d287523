import type { Bus } from '../../platform/bus/index.ts'
import type { Db } from '../../platform/db/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Presence } from '../../platform/presence/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { systemTimers, type Timers } from '../../platform/time/timers.ts'
import type { Ownership } from '../index.ts'
import { databaseStore } from './database-store.ts'
import type { LockWatchTiming } from './lock-watch.ts'
import type { OwnershipStore } from './ownership-store.ts'
import { Rounds } from './rounds.ts'

export interface OwnershipDeps {
  store: OwnershipStore
  bus: Bus
  clock: Clock
  timers: Timers
  /** Returns numbers in [0, 1). Default `Math.random`. */
  random?: () => number
  log: Log
  /** The id of this process, also used for its queue leases. */
  instanceId: string
  /** Releases what a dead instance held. Called by the one instance that removed it. */
  onInstanceDead(instanceId: string): Promise<void>
  /** On PostgreSQL. Without it, only a missing heartbeat shows that an instance is dead. */
  presence?: Presence | undefined
  timing?: Partial<OwnershipTiming>
}

export interface OwnershipTiming extends LockWatchTiming {
  /** Interval between rounds. */
  roundMs: number
  /** Longest interval between full rounds, which read every account. */
  fullRoundMs: number
  /** An instance without a heartbeat for this long is dead, whatever its lock shows. */
  deadAfterMs: number
  /** How long this instance must have had heartbeats itself before it judges those of others: all of them end while the database is away. */
  settleMs: number
  /** Shortest interval between rounds caused by hints. */
  hintGapMs: number
  /** Part of the delay of a round that all instances run, for each of them. */
  spreadMs: number
  /** How many accounts an instance releases per round after another one joined, at least. */
  movesPerRound: number
  /** True when no other process can be alive, so every account is free at the start: on the file store, whose folder is locked. */
  soleProcess: boolean
}

/** The ownership of the accounts in the database. `rounds.ts` says how it works. */
export function ownership({ db, ...deps }: Omit<OwnershipDeps, 'store' | 'timers'> & { db: Db }): Ownership {
  const timing = { soleProcess: db.engine === 'sqlite', ...deps.timing }
  return ownershipOn({ ...deps, store: databaseStore(db), timers: systemTimers, timing })
}

/** The same on any store and any timers. */
export function ownershipOn(deps: OwnershipDeps): Ownership {
  return new Rounds(deps)
}
