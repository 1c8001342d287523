/** An owned account, with every column on which its session depends. */
export interface OwnedAccount {
  id: string
  epoch: number
  paused: number
  watch: number
  accessVersion: number
  mailHost: string
}

/** A registered instance. */
export interface RegisteredInstance {
  id: string
  /** Null for one that held no lock at its last heartbeat. */
  lockKey: string | null
  /** The time since its last heartbeat. */
  silentMs: number
  /** How many accounts it owns. Null for an instance of a version that does not write it. */
  ownedAccounts: number | null
}

/** What a heartbeat writes beside its time. */
export interface BeatState {
  /** JSON; null until the sync has reported some. */
  syncTotals: string | null
  lockKey: string | null
  /** Undefined leaves the stored number, which every move of an account changes. */
  ownedAccounts?: number | undefined
}

/**
 * The registered instances, and the owner and epoch of every account, as ownership reads and writes them. Each method is one
 * transaction, or reads only. Times are those of the store, because the clocks of machines differ. An account whose owner
 * is not registered is free. `store.test.ts` is the contract, for PostgreSQL, SQLite and the store of the simulation.
 */
export interface OwnershipStore {
  /** Registers the instance, or resets its heartbeat and start. */
  register(id: string, lockKey: string | null): Promise<void>
  /** Returns false when the instance is not registered, that is, when another one declared it dead. */
  beat(id: string, state: BeatState): Promise<boolean>
  /** Removes instances without a heartbeat for `silentMs`, or all others. Returns their ids. */
  removeDead(me: string, silentMs: number | 'all'): Promise<string[]>
  /** Removes those of these instances that still claim their lock. Returns their ids. */
  removeWithoutLock(ids: readonly string[]): Promise<string[]>
  unregister(id: string): Promise<void>
  /** In the order of their ids. Includes a dead instance until it is removed. */
  instances(): Promise<RegisteredInstance[]>
  /** Whether an account has no owner. Does not include accounts of removed instances. */
  hasUnowned(): Promise<boolean>
  /** Counts the accounts of these instances from their rows. */
  countOwned(ids: readonly string[]): Promise<Map<string, number>>
  /**
   * The number of accounts per registered instance, null as in `instances`, and the number of free accounts, `limit` if there are more:
   * both at one moment, because accounts move meanwhile. Empty while no instance is registered.
   */
  shares(limit: number): Promise<{ owned: Map<string, number | null>; free: number }>
  /**
   * Takes up to `limit` free accounts, those without an owner first, each under its next epoch, and returns how many. Skips rows that a transaction has
   * locked; the next round, which follows at once, takes them.
   */
  take(me: string, limit: number): Promise<number>
  /**
   * Takes the account, under its next epoch, if it is free. Returns it if this instance owns it now; undefined if another
   * one does, or if this one is not registered.
   */
  claim(me: string, accountId: string): Promise<OwnedAccount | undefined>
  /** Releases up to `limit` accounts, newest first. The next owner increments the epoch. */
  giveBack(me: string, limit: number): Promise<void>
  /** Every account this instance owns, in pages. A change made meanwhile may be missing until the next full round. */
  mine(me: string): AsyncIterable<readonly OwnedAccount[]>
  /** Those of these accounts that this instance owns, in any order. */
  findMine(me: string, accountIds: readonly string[]): Promise<OwnedAccount[]>
}
