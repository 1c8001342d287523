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

interface ShareTiming {
  roundMs: number
  /** How many accounts an instance releases per round at least. */
  movesPerRound: number
}

export interface Moved {
  /** What is left for the next rounds: free accounts, which others take or transactions lock, or more releases. */
  left: 'nothing' | 'free' | 'unfinished'
  /** Accounts were taken or released. */
  isChanged: boolean
}

const MOVED_PER_TRANSACTION = 200
/** So many free accounts are counted, and more for many instances. */
const FREE_COUNTED = 2000
const FREE_COUNTED_PER_INSTANCE = 100
/** Part of its surplus that an instance releases per round, so that even a large one is gone within minutes. */
const RELEASED_PART = 1 / 20

/** Takes free accounts, and releases accounts, until this instance has its share of them. */
export class AccountShare {
  readonly #deps: AccountShareDeps
  readonly #timing: ShareTiming
  #unowned = 0
  /** At the last read. */
  #instances = 0
  #lastGiveBackMs = Number.NEGATIVE_INFINITY

  constructor(deps: AccountShareDeps, timing: ShareTiming) {
    this.#deps = deps
    this.#timing = timing
  }

  /** How many accounts had no owner after the last move. */
  get unowned(): number {
    return this.#unowned
  }

  /** Takes at most `mostTaken` accounts; further ones are left `free`. */
  async move(mostTaken = Number.POSITIVE_INFINITY): Promise<Moved> {
    const { instanceId } = this.#deps
    let left = mostTaken
    for (let isChanged = false; ; ) {
      const { owned, free, isUncounted } = await this.#readShares()
      this.#unowned = free
      // Removed since the heartbeat: the next round registers again.
      if (!owned.has(instanceId)) return { left: 'unfinished', isChanged }
      const { take, giveBack } = isUncounted
        ? { take: takeOfMany(instanceId, owned, free), giveBack: 0 }
        : fairMove({ me: instanceId, owned, free })
      if (giveBack > 0) return { left: 'unfinished', isChanged: (await this.#release(giveBack)) || isChanged }
      const planned = Math.min(take, left)
      const taken = await this.#take(planned)
      isChanged ||= taken > 0
      left -= taken
      // The others may not take what is left: they read the shares while accounts moved.
      const isDone = !isUncounted || taken < take || take === 0
      if (isDone) return { left: this.#unowned > 0 ? 'free' : 'nothing', isChanged }
    }
  }

  /** `isUncounted`: more accounts are free than `free`. */
  async #readShares(): Promise<{ owned: ReadonlyMap<string, number>; free: number; isUncounted: boolean }> {
    const { store } = this.#deps
    const limit = Math.max(FREE_COUNTED, FREE_COUNTED_PER_INSTANCE * this.#instances)
    const { owned, free } = await store.shares(limit)
    this.#instances = owned.size
    const uncounted = [...owned].filter(([, count]) => count === null).map(([id]) => id)
    const counts = uncounted.length === 0 ? new Map<string, number>() : await store.countOwned(uncounted)
    return {
      owned: new Map([...owned].map(([id, count]) => [id, count ?? counts.get(id) ?? 0])),
      free,
      isUncounted: free === limit,
    }
  }

  async #take(planned: number): Promise<number> {
    const { store, instanceId } = this.#deps
    for (let taken = 0; taken < planned; ) {
      const limit = Math.min(planned - taken, MOVED_PER_TRANSACTION)
      const count = await store.take(instanceId, limit)
      taken += count
      this.#unowned -= count
      if (count < limit) return taken
    }
    return planned
  }

  /** Releases stay gradual although hints make rounds frequent, so that thousands of mailboxes do not reconnect at once. */
  async #release(surplus: number): Promise<boolean> {
    const { store, bus, clock, instanceId } = this.#deps
    const nowMs = clock.monotonic()
    if (nowMs - this.#lastGiveBackMs < this.#timing.roundMs) return false
    this.#lastGiveBackMs = nowMs
    let left = Math.min(surplus, Math.max(this.#timing.movesPerRound, Math.ceil(surplus * RELEASED_PART)))
    for (; left > 0; left -= MOVED_PER_TRANSACTION) {
      await store.giveBack(instanceId, Math.min(left, MOVED_PER_TRANSACTION))
    }
    bus.publish(ACCOUNTS_TOPIC)
    return true
  }
}

/**
 * How many accounts an instance takes while more are free than it counts, as when all instances start: an equal part of
 * those counted, so that all go at the same pace, and nothing if it is far ahead of the others.
 */
function takeOfMany(me: string, owned: ReadonlyMap<string, number>, free: number): number {
  const total = [...owned.values()].reduce((sum, count) => sum + count, 0)
  const isAhead = (owned.get(me) ?? 0) > (2 * total) / owned.size + MOVED_PER_TRANSACTION
  return isAhead ? 0 : Math.min(MOVED_PER_TRANSACTION, Math.floor(free / owned.size))
}
