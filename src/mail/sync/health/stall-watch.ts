import { lockUnowned, unownedAccounts } from '../../../accounts/cluster/index.ts'
import { OwnershipLost } from '../../../accounts/index.ts'
import type { RunState } from '../../../platform/schedule/index.ts'
import { isoTime } from '../../../platform/time/time.ts'
import type { SyncDeps } from '../deps.ts'
import type { CheckTimes } from './check-times.ts'

interface StallWatchDeps extends Pick<SyncDeps, 'db' | 'accounts' | 'ownership' | 'fence' | 'clock' | 'log'> {
  times: CheckTimes
  stalledAfterMs: number
  state(accountId: string): RunState | undefined
  /** Called once the stall of an owned account is stored. */
  onStalled(accountId: string): void
}

/** How many accounts without an owner are watched at once. */
const MAX_UNOWNED = 500

/**
 * Finds accounts that are not synced, whatever the reason: those of this instance in memory, those without an owner in the database.
 * The status of an account makes it one event over all instances.
 */
export class StallWatch {
  readonly #deps: StallWatchDeps
  /** Monotonic; since when this instance finds an account without an owner. */
  #unownedSince = new Map<string, number>()
  #sweeping: Promise<void> | undefined

  constructor(deps: StallWatchDeps) {
    this.#deps = deps
  }

  /** Checks every owned account, in memory, and those without an owner if there are any. Call it after every ownership round. */
  sweep(): void {
    const { log } = this.#deps
    this.#sweeping ??= this.#storeStalls()
      .catch((error: unknown) => {
        log.warn('Cannot store which accounts are not synced. The next ownership round tries again.', {
          operation: 'sync.stall',
          error,
        })
      })
      .finally(() => {
        this.#sweeping = undefined
      })
  }

  async stop(): Promise<void> {
    await this.#sweeping
  }

  async #storeStalls(): Promise<void> {
    for (const accountId of this.#deps.times.stalled()) await this.#storeOwned(accountId)
    for (const accountId of await this.#findUnowned()) await this.#storeUnowned(accountId)
  }

  async #storeOwned(accountId: string): Promise<void> {
    const { accounts, db, fence, ownership, times, onStalled } = this.#deps
    const epoch = ownership.owned().get(accountId)
    if (epoch === undefined) return
    const reason = this.#findReason(this.#deps.state(accountId))
    try {
      await db.transaction(async (tx) => {
        await fence(tx, accountId, epoch)
        await accounts.markStalled(tx, accountId, reason)
      })
    } catch (error) {
      if (error instanceof OwnershipLost) return
      throw error
    }
    // If the run has ended meanwhile, the next sweep stores why.
    if (this.#findReason(this.#deps.state(accountId)) !== reason) return
    times.stored(accountId)
    this.#log(accountId, reason)
    onStalled(accountId)
  }

  async #storeUnowned(accountId: string): Promise<void> {
    const { accounts, db } = this.#deps
    const reason = 'No running instance owns the account.'
    const isUnowned = await db.transaction(async (tx) => {
      if (!(await lockUnowned(tx, db.dialect, accountId))) return false
      await accounts.markStalled(tx, accountId, reason)
      return true
    })
    if (isUnowned) this.#log(accountId, reason)
    this.#unownedSince.delete(accountId)
  }

  async #findUnowned(): Promise<string[]> {
    const { clock, db, ownership, stalledAfterMs } = this.#deps
    if (ownership.unowned() === 0) {
      this.#unownedSince.clear()
      return []
    }
    const nowMs = clock.monotonic()
    const ids = await unownedAccounts(db.read, MAX_UNOWNED)
    this.#unownedSince = new Map(ids.map((id) => [id, this.#unownedSince.get(id) ?? nowMs]))
    return [...this.#unownedSince].filter(([, sinceMs]) => nowMs - sinceMs >= stalledAfterMs).map(([id]) => id)
  }

  #findReason(state: RunState | undefined): string {
    if (state === undefined) return 'The account was not scheduled.'
    if (state.state === 'active') return `The sync that began at ${isoTime(state.lastRunAt ?? 0)} has not ended.`
    if (state.lastError !== null) return state.lastError
    return 'No sync has succeeded in time.'
  }

  #log(accountId: string, reason: string): void {
    this.#deps.log.warn('An account is not synced.', { accountId, operation: 'sync.stall', metadata: { reason } })
  }
}
