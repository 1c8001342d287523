import type { Bus } from '../../../infra/bus/index.ts'
import type { Db } from '../../../infra/db/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { ACCOUNTS_TOPIC, type Ownership, type OwnershipChange } from '../account.ts'
import type { RunTotals } from '../scheduler/owned-scheduler.ts'
import { fairMove } from './fair-share.ts'
import { instanceStore, livingInstances } from './instance-store.ts'
import { OwnedAccounts } from './owned-accounts.ts'

export interface OwnershipDeps {
  db: Db
  bus: Bus
  clock: Clock
  log: Log
  /** The id of this process, also used for its queue leases. */
  instanceId: string
  /** Releases what a dead instance held. Called by the one instance that removed it. */
  onInstanceDead(instanceId: string): Promise<void>
  timing?: Partial<OwnershipTiming>
}

export interface OwnershipTiming {
  /** Interval between rounds. */
  roundMs: number
  /** Longest interval between full rounds, which read every account. */
  fullRoundMs: number
  /** An instance without a heartbeat for this long is dead. */
  deadAfterMs: number
  /** Shortest interval between rounds caused by hints. */
  hintGapMs: number
  /** How many accounts an instance releases per round after another one joined. */
  movesPerRound: number
  /** True when no other process can be alive, so every account is free at the start: on the file store, whose folder is locked. */
  soleProcess: boolean
}

const TAKEN_PER_TRANSACTION = 200

/**
 * One round: heartbeat → remove dead instances → take or release a fair share → read the owned accounts and notify the
 * listeners. The last two read every account. They run after a hint, a change of the set of instances, a free account or an
 * unfinished full round, and every `fullRoundMs`, which bounds the delay of a lost hint. Ownership is always read from the
 * rows, so a failed round only delays changes.
 */
export function ownership(deps: OwnershipDeps): Ownership {
  return new Rounds(deps)
}

class Rounds implements Ownership {
  readonly instanceId: string
  readonly #deps: OwnershipDeps
  readonly #timing: OwnershipTiming
  readonly #owned: OwnedAccounts
  readonly #roundListeners: (() => void)[] = []
  #syncTotals: () => RunTotals | undefined = () => undefined
  #lastBeatMs = 0
  #beatFailure: unknown
  #lastGiveBackMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  /** Rounds and claims run one at a time: a round that read before a claim must not take the account for lost. */
  #turns: Promise<unknown> = Promise.resolve()
  #hinted = false
  /** The next round reads every account; set until such a round has finished. */
  #fullDue = true
  #lastFullMs = Number.NEGATIVE_INFINITY
  /** The living instances at the last full round. */
  #living = ''
  #unsubscribe: (() => void) | undefined
  #stopping: Promise<void> | undefined

  constructor(deps: OwnershipDeps) {
    this.#deps = deps
    this.#owned = new OwnedAccounts(deps.log)
    this.instanceId = deps.instanceId
    this.#timing = {
      roundMs: 5_000,
      fullRoundMs: 60_000,
      deadAfterMs: 30_000,
      hintGapMs: 100,
      movesPerRound: 100,
      soleProcess: deps.db.engine === 'sqlite',
      ...deps.timing,
    }
  }

  owned(): ReadonlyMap<string, number> {
    return this.#owned.epochs
  }

  mailHost(accountId: string): string {
    return this.#owned.get(accountId)?.mailHost ?? ''
  }

  onRound(listener: () => void): void {
    this.#roundListeners.push(listener)
  }

  reportSyncTotals(read: () => RunTotals): void {
    this.#syncTotals = read
  }

  beatFailure(): unknown {
    return this.#beatFailure
  }

  onChange(listener: (change: OwnershipChange) => void): void {
    this.#owned.onChange(listener)
  }

  async start(): Promise<void> {
    await this.#register()
    this.#unsubscribe = this.#deps.bus.subscribe(ACCOUNTS_TOPIC, () => this.#hint())
    if (this.#timing.soleProcess) await this.#removeDead('all')
    await this.#inTurn(() => this.#round())
    this.#schedule()
  }

  async claim(accountId: string): Promise<void> {
    try {
      await this.#inTurn(async () => {
        if (this.#stopping !== undefined) return
        const claimed = await this.#write((store) => store.claim(this.instanceId, accountId))
        if (claimed === undefined) return
        this.#owned.add(claimed)
      })
    } catch (error) {
      const about = { accountId, operation: 'accounts.ownership', error }
      this.#deps.log.warn('Cannot take a new account at once; the next ownership round takes it.', about)
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.then(work)
    this.#turns = turn.catch(() => {})
    return turn
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#leave()
    return this.#stopping
  }

  async #leave(): Promise<void> {
    this.#unsubscribe?.()
    clearTimeout(this.#timer)
    await this.#turns
    this.#owned.replace([])
    try {
      await this.#write((store) => store.unregister(this.instanceId))
      this.#deps.bus.publish(ACCOUNTS_TOPIC)
    } catch (error) {
      // The other instances notice the missing heartbeat.
      this.#deps.log.warn('Cannot release the accounts; other instances take over once the heartbeat is missing.', {
        operation: 'accounts.ownership',
        error,
      })
    }
  }

  /** Runs a full round soon. Several hints cause one round. */
  #hint(): void {
    if (this.#hinted || this.#stopping !== undefined) return
    this.#hinted = true
    // Without a timer a round is running or has not started yet; the next one is scheduled after it.
    if (this.#timer !== undefined) this.#schedule()
  }

  #schedule(): void {
    if (this.#stopping !== undefined) return
    clearTimeout(this.#timer)
    const delayMs = this.#hinted ? this.#timing.hintGapMs : this.#timing.roundMs
    this.#timer = setTimeout(() => void this.#run(), delayMs)
  }

  async #run(): Promise<void> {
    this.#timer = undefined
    this.#fullDue ||= this.#hinted
    this.#hinted = false
    try {
      await this.#inTurn(() => this.#round())
      for (const listener of this.#roundListeners) listener()
    } catch (error) {
      this.#deps.log.warn('An ownership round failed; the next one tries again.', {
        operation: 'accounts.ownership',
        error,
      })
      // Other instances may have taken the accounts: without a heartbeat this process must not act as an owner.
      if (this.#deps.clock.monotonic() - this.#lastBeatMs > this.#timing.deadAfterMs) this.#owned.replace([])
    } finally {
      this.#schedule()
    }
  }

  async #round(): Promise<void> {
    const beatAtMs = this.#deps.clock.monotonic()
    if (await this.#beat()) {
      this.#lastBeatMs = beatAtMs
    } else {
      this.#deps.log.warn('Another instance declared this one dead; it registers again.', {
        operation: 'accounts.ownership',
      })
      this.#owned.replace([])
      this.#fullDue = true
      await this.#register()
    }
    if (!this.#timing.soleProcess) await this.#removeDead(this.#timing.deadAfterMs)
    const living = (await livingInstances(this.#deps.db.read)).join()
    const isOld = beatAtMs - this.#lastFullMs >= this.#timing.fullRoundMs
    this.#fullDue ||= isOld || living !== this.#living || (await this.#reader().hasUnowned())
    if (!this.#fullDue) return
    const isBalanced = await this.#move()
    this.#owned.replace(await this.#reader().mine(this.instanceId))
    this.#fullDue = !isBalanced
    this.#lastFullMs = beatAtMs
    this.#living = living
  }

  /** The only write that happens every few seconds even without work, so its error is reported in health. */
  async #beat(): Promise<boolean> {
    try {
      const totals = this.#syncTotals()
      const written = totals === undefined ? null : JSON.stringify(totals)
      const isAlive = await this.#write((store) => store.beat(this.instanceId, written))
      this.#beatFailure = undefined
      return isAlive
    } catch (error) {
      this.#beatFailure = error
      throw error
    }
  }

  async #register(): Promise<void> {
    this.#lastBeatMs = this.#deps.clock.monotonic()
    await this.#write((store) => store.register(this.instanceId))
  }

  async #removeDead(silentMs: number | 'all'): Promise<void> {
    for (const id of await this.#write((store) => store.removeDead(this.instanceId, silentMs))) {
      this.#deps.log.warn('An instance is dead; taking over its accounts.', {
        operation: 'accounts.ownership',
        metadata: { dead: id },
      })
      try {
        await this.#deps.onInstanceDead(id)
      } catch (error) {
        // The leases of the dead instance expire by themselves.
        this.#deps.log.warn('Cannot release the leases of a dead instance; they expire.', {
          operation: 'accounts.ownership',
          error,
          metadata: { dead: id },
        })
      }
    }
  }

  /** Returns false when the next round has to move more accounts. */
  async #move(): Promise<boolean> {
    const shares = await this.#reader().shares()
    // Removed since the heartbeat: the next round registers again.
    if (!shares.owned.has(this.instanceId)) return false
    const { take, giveBack } = fairMove({ me: this.instanceId, ...shares })
    const nowMs = this.#deps.clock.monotonic()
    // Releases stay gradual although hints make rounds frequent, so that thousands of mailboxes do not reconnect at once.
    if (giveBack > 0 && nowMs - this.#lastGiveBackMs >= this.#timing.roundMs) {
      this.#lastGiveBackMs = nowMs
      const limit = Math.min(giveBack, this.#timing.movesPerRound)
      await this.#write((store) => store.giveBack(this.instanceId, limit))
      this.#deps.bus.publish(ACCOUNTS_TOPIC)
    }
    for (let left = take; left > 0; ) {
      const limit = Math.min(left, TAKEN_PER_TRANSACTION)
      const taken = await this.#write((store) => store.take(this.instanceId, limit))
      if (taken < limit) return false
      left -= taken
    }
    return giveBack === 0
  }

  #reader() {
    return instanceStore(this.#deps.db.read, this.#deps.db.dialect)
  }

  #write<T>(body: (store: ReturnType<typeof instanceStore>) => Promise<T>): Promise<T> {
    return this.#deps.db.transaction((tx) => body(instanceStore(tx, this.#deps.db.dialect)))
  }
}
