import type { Presence } from '../../platform/presence/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { SyncTotals } from '../index.ts'
import type { OwnershipStore } from './ownership-store.ts'

interface HeartbeatDeps {
  store: OwnershipStore
  clock: Clock
  instanceId: string
  presence?: Presence | undefined
}

/** Writes into the row of this instance that it lives, and remembers how well that works. */
export class Heartbeat {
  readonly #deps: HeartbeatDeps
  readonly #deadAfterMs: number
  #syncTotals: () => SyncTotals | undefined = () => undefined
  #ownedAccounts: () => number | undefined = () => undefined
  #failure: unknown
  /** Monotonic; when the last one that was written began. */
  #lastMs = 0
  /** Monotonic; since when none failed or was late. */
  #steadySinceMs = Number.POSITIVE_INFINITY

  constructor(deps: HeartbeatDeps, deadAfterMs: number) {
    this.#deps = deps
    this.#deadAfterMs = deadAfterMs
  }

  /** Every heartbeat writes these, too. */
  reportSyncTotals(read: () => SyncTotals): void {
    this.#syncTotals = read
  }

  /** Every heartbeat writes the number, unless it is unknown. */
  reportOwnedAccounts(read: () => number | undefined): void {
    this.#ownedAccounts = read
  }

  /** The error of the last one; undefined when it succeeded. */
  get failure(): unknown {
    return this.#failure
  }

  /** The last one is so old that other instances may take this one for dead. */
  get isOverdue(): boolean {
    return this.#deps.clock.monotonic() - this.#lastMs > this.#deadAfterMs
  }

  /** Since when, on the monotonic clock, no heartbeat failed or was late. Infinite: the last one failed. */
  get steadySinceMs(): number {
    return this.#steadySinceMs
  }

  /** Registers the instance. */
  async register(): Promise<void> {
    const { store, clock, instanceId } = this.#deps
    this.#lastMs = clock.monotonic()
    await store.register(instanceId, this.#lockKey)
  }

  /**
   * The only write that happens every few seconds even without work, so its error is reported in health. Returns false when another
   * instance declared this one dead.
   */
  async beat(): Promise<boolean> {
    const { store, clock, instanceId } = this.#deps
    const startedMs = clock.monotonic()
    try {
      const totals = this.#syncTotals()
      const written = totals === undefined ? null : JSON.stringify(totals)
      const state = { syncTotals: written, lockKey: this.#lockKey, ownedAccounts: this.#ownedAccounts() }
      const isAlive = await store.beat(instanceId, state)
      this.#failure = undefined
      const nowMs = clock.monotonic()
      const isLate = nowMs - startedMs > this.#deadAfterMs / 2
      this.#steadySinceMs = isLate ? nowMs : Math.min(this.#steadySinceMs, nowMs)
      if (isAlive) this.#lastMs = startedMs
      return isAlive
    } catch (error) {
      this.#failure = error
      this.#steadySinceMs = Number.POSITIVE_INFINITY
      throw error
    }
  }

  get #lockKey(): string | null {
    return this.#deps.presence?.key ?? null
  }
}
