import type { Bus } from '../../platform/bus/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { ACCOUNTS_TOPIC } from '../index.ts'
import { fairMove } from './fair-share.ts'
import type { OwnershipStore } from './ownership-store.ts'

interface AccountShareDeps {
  store: OwnershipStore
  bus: Bus
  clock: Clock
  instanceId: string
}

const TAKEN_PER_TRANSACTION = 200

/** Takes free accounts, and releases accounts, until this instance has its share of them. */
export class AccountShare {
  readonly #deps: AccountShareDeps
  readonly #timing: { roundMs: number; movesPerRound: number }
  #unowned = 0
  #lastGiveBackMs = Number.NEGATIVE_INFINITY

  constructor(deps: AccountShareDeps, timing: { roundMs: number; movesPerRound: number }) {
    this.#deps = deps
    this.#timing = timing
  }

  /** How many accounts had no owner after the last move. */
  get unowned(): number {
    return this.#unowned
  }

  /** Returns the work for the next round: take accounts that were locked, or move more. */
  async move(): Promise<'balanced' | 'locked' | 'unfinished'> {
    const { store, bus, clock, instanceId } = this.#deps
    const shares = await store.shares()
    // Removed since the heartbeat: the next round registers again.
    if (!shares.owned.has(instanceId)) return 'unfinished'
    const { take, giveBack } = fairMove({ me: instanceId, ...shares })
    const nowMs = clock.monotonic()
    // Releases stay gradual although hints make rounds frequent, so that thousands of mailboxes do not reconnect at once.
    if (giveBack > 0 && nowMs - this.#lastGiveBackMs >= this.#timing.roundMs) {
      this.#lastGiveBackMs = nowMs
      const limit = Math.min(giveBack, this.#timing.movesPerRound)
      await store.giveBack(instanceId, limit)
      bus.publish(ACCOUNTS_TOPIC)
    }
    this.#unowned = shares.free
    for (let left = take; left > 0; ) {
      const limit = Math.min(left, TAKEN_PER_TRANSACTION)
      const taken = await store.take(instanceId, limit)
      this.#unowned -= taken
      left -= taken
      if (taken < limit) return 'locked'
    }
    return giveBack === 0 ? 'balanced' : 'unfinished'
  }
}
