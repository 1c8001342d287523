import { concurrencyLimit } from '../../platform/concurrency/limit.ts'
import { ACCOUNTS_TOPIC, type Ownership, type OwnershipChange, type SyncTotals } from '../index.ts'
import { AccountShare, type Moved } from './account-share.ts'
import { DEAD_AFTER_MS, removeInstances } from './dead-instances.ts'
import { DueWork, looksForOwner } from './due-work.ts'
import { Heartbeat } from './heartbeat.ts'
import { LockWatch } from './lock-watch.ts'
import { OwnedAccounts } from './owned-accounts.ts'
import type { OwnershipDeps, OwnershipTiming } from './ownership.ts'
import type { RegisteredInstance } from './ownership-store.ts'

/** The service is healthy once so many accounts are taken; the next round, which follows soon, takes the others. */
const TAKEN_AT_START = 200
const UNMOVED: Moved = { left: 'nothing', isChanged: false }

/**
 * One round: heartbeat → read the instances, remove dead ones → take or release a fair share → read the owned accounts and
 * notify the listeners. What the last two steps cost grows with the instances and accounts, so they run only when due:
 * - The share: after a hint, a change of the set of instances, a free account, or an unfinished move.
 * - All owned accounts: after a move, or when hints may be lost.
 * - One owned account: after a hint that names it.
 * Both run in full every `fullRoundMs`, which bounds the delay of a lost hint. Between the rounds it reads which instances
 * hold their locks; a dead one causes a round. Ownership is always read from the rows, so a failed round only delays changes.
 */
export class Rounds implements Ownership {
  readonly instanceId: string
  readonly #deps: OwnershipDeps
  readonly #timing: OwnershipTiming
  readonly #random: () => number
  readonly #owned: OwnedAccounts
  readonly #heartbeat: Heartbeat
  readonly #share: AccountShare
  readonly #roundListeners: (() => void)[] = []
  /** Cancels the timer of the next round. */
  #cancelTimer: (() => void) | undefined
  readonly #watch: LockWatch | undefined
  /** The locks of the other instances, by id, as of the last round. */
  #locks: ReadonlyMap<string, string> = new Map()
  /** Rounds and claims run one at a time: a round that read before a claim must not take the account for lost. */
  readonly #inTurn = concurrencyLimit(1)
  /** When the next round is due that was requested; monotonic. */
  #soonAtMs: number | undefined
  /** What the next rounds have to do. Set until a round has finished it. */
  readonly #due = new DueWork({ all: true })
  #lastFullMs = Number.NEGATIVE_INFINITY
  /** Rounds in a row that left free accounts: others take them at the same time, or transactions hold their rows. */
  #freeRounds = 0
  /** The ids of the living instances at the last round. */
  #living: readonly string[] = []
  #unsubscribe: (() => void) | undefined
  #stopping: Promise<void> | undefined

  constructor(deps: OwnershipDeps) {
    this.#deps = deps
    this.#random = deps.random ?? Math.random
    this.#owned = new OwnedAccounts(deps.log)
    this.instanceId = deps.instanceId
    this.#timing = {
      roundMs: 5_000,
      fullRoundMs: 60_000,
      lockReadMs: 1_000,
      sessionMs: 5_000,
      missingMs: 3_000,
      deadAfterMs: DEAD_AFTER_MS,
      settleMs: 10_000,
      hintGapMs: 100,
      spreadMs: 2,
      movesPerRound: 100,
      soleProcess: false,
      ...deps.timing,
    }
    this.#heartbeat = new Heartbeat(deps, this.#timing.deadAfterMs)
    this.#heartbeat.reportOwnedAccounts(() => (this.#due.all ? undefined : this.#owned.epochs.size))
    this.#share = new AccountShare(deps, this.#timing)
    if (deps.presence !== undefined)
      this.#watch = new LockWatch(deps.presence, { ...deps, random: this.#random }, this.#timing)
  }

  owned(): ReadonlyMap<string, number> {
    return this.#owned.epochs
  }

  mailHost(accountId: string): string {
    return this.#owned.get(accountId)?.mailHost ?? ''
  }

  isPaused(accountId: string): boolean {
    return this.#owned.get(accountId)?.paused === 1
  }

  onRound(listener: () => void): void {
    this.#roundListeners.push(listener)
  }

  reportSyncTotals(read: () => SyncTotals): void {
    this.#heartbeat.reportSyncTotals(read)
  }

  beatFailure(): unknown {
    return this.#heartbeat.failure
  }

  unowned(): number {
    return this.#share.unowned
  }

  onChange(listener: (change: OwnershipChange) => void): void {
    this.#owned.onChange(listener)
  }

  async start(): Promise<void> {
    await this.#heartbeat.register()
    this.#unsubscribe = this.#deps.bus.subscribe(ACCOUNTS_TOPIC, (payload) => this.#hint(payload))
    if (this.#timing.soleProcess) await this.#removeDead('all')
    await this.#inTurn(() => this.#round(TAKEN_AT_START))
    if (this.#due.share) this.#soon(this.#timing.hintGapMs)
    this.#schedule()
    // Without its lock this instance must say so, and its heartbeat decides.
    this.#deps.presence?.onChange(() => this.#soon(this.#timing.hintGapMs))
    this.#watch?.start({ locks: () => this.#locks, onDead: (ids) => this.#removeWithoutLock(ids) })
  }

  async claim(accountId: string): Promise<void> {
    try {
      await this.#inTurn(async () => {
        if (this.#stopping !== undefined) return
        const claimed = await this.#deps.store.claim(this.instanceId, accountId)
        if (claimed === undefined) return
        this.#owned.add(claimed)
      })
    } catch (error) {
      // It may own the account without knowing.
      this.#due.all = true
      const about = { accountId, operation: 'accounts.ownership', error }
      this.#deps.log.warn('Cannot take a new account at once; the next ownership round takes it.', about)
    }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#leave()
    return this.#stopping
  }

  async #leave(): Promise<void> {
    this.#unsubscribe?.()
    this.#cancelTimer?.()
    await this.#watch?.stop()
    // Waits for the round or claim in progress.
    await this.#inTurn(async () => {})
    this.#owned.drop()
    await this.#owned.reportDropped()
    try {
      await this.#deps.store.unregister(this.instanceId)
      this.#deps.bus.publish(ACCOUNTS_TOPIC)
    } catch (error) {
      // The other instances notice the missing heartbeat.
      this.#deps.log.warn('Cannot release the accounts; other instances take over once the heartbeat is missing.', {
        operation: 'accounts.ownership',
        error,
      })
    }
  }

  #hint(payload: string | undefined): void {
    if (payload === undefined) {
      this.#due.all = true
      this.#soon(this.#spreadGapMs)
    } else if (payload === '') {
      this.#due.share = true
      this.#soon(this.#spreadGapMs)
    } else if (this.#owned.epochs.has(payload)) {
      this.#due.addAccount(payload)
      this.#soon(this.#timing.hintGapMs)
    } else if (looksForOwner(payload, this.instanceId, this.#living)) {
      this.#soon(this.#timing.hintGapMs)
    }
  }

  /** All instances get such a hint at once. Their rounds are spread, so that the database need not run all of them at once. */
  get #spreadGapMs(): number {
    const { hintGapMs, spreadMs } = this.#timing
    return hintGapMs + this.#random() * spreadMs * this.#living.length
  }

  /** Runs a round within `delayMs`. Several requests cause one round. */
  #soon(delayMs: number): void {
    const atMs = this.#deps.clock.monotonic() + delayMs
    if (this.#stopping !== undefined || (this.#soonAtMs !== undefined && this.#soonAtMs <= atMs)) return
    this.#soonAtMs = atMs
    // Without a timer a round is running or has not started yet; the next one is scheduled after it.
    if (this.#cancelTimer !== undefined) this.#schedule()
  }

  #schedule(): void {
    if (this.#stopping !== undefined) return
    this.#cancelTimer?.()
    // Transactions lock accounts for milliseconds only.
    const freeMs = this.#freeRounds === 0 ? Number.POSITIVE_INFINITY : this.#spreadGapMs * 2 ** this.#freeRounds
    const untilSoonMs = (this.#soonAtMs ?? Number.POSITIVE_INFINITY) - this.#deps.clock.monotonic()
    const delayMs = Math.max(0, Math.min(this.#intervalMs, freeMs, untilSoonMs))
    this.#cancelTimer = this.#deps.timers.start(() => void this.#run(), delayMs)
  }

  /** Without its lock only its heartbeats show that an instance lives, so they are more frequent until it holds the lock again. */
  get #intervalMs(): number {
    const { presence } = this.#deps
    const isReconnecting = presence !== undefined && presence.key === undefined && !presence.isPooled
    if (!isReconnecting || this.#heartbeat.failure !== undefined) return this.#timing.roundMs
    return Math.min(this.#timing.roundMs, this.#timing.lockReadMs)
  }

  /** Removes instances whose lock has been missing long enough. The next rounds take their accounts. */
  async #removeWithoutLock(dead: readonly string[]): Promise<void> {
    try {
      const found = await this.#inTurn(() =>
        removeInstances(this.#deps, 'lock', (store) => store.removeWithoutLock(dead)),
      )
      this.#locks = new Map([...this.#locks].filter(([id]) => !dead.includes(id)))
      // Every instance takes its share of the accounts.
      if (found.length > 0) this.#deps.bus.publish(ACCOUNTS_TOPIC)
    } catch (error) {
      const about = { operation: 'accounts.ownership', error, metadata: { dead } }
      this.#deps.log.warn('Cannot remove dead instances; the next read of the locks tries again.', about)
    }
  }

  async #run(): Promise<void> {
    this.#cancelTimer = undefined
    this.#soonAtMs = undefined
    try {
      await this.#inTurn(() => this.#round())
      for (const listener of this.#roundListeners) listener()
    } catch (error) {
      this.#deps.log.warn('An ownership round failed; the next one tries again.', {
        operation: 'accounts.ownership',
        error,
      })
      // Other instances may have taken the accounts: without a heartbeat this process must not act as an owner.
      if (this.#heartbeat.isOverdue) {
        this.#owned.drop()
        this.#due.all = true
        await this.#inTurn(() => this.#owned.reportDropped())
      }
    } finally {
      // Requested during the round: the gap begins now.
      if (this.#soonAtMs !== undefined) {
        this.#soonAtMs = Math.max(this.#soonAtMs, this.#deps.clock.monotonic() + this.#timing.hintGapMs)
      }
      this.#schedule()
    }
  }

  /** Takes at most `mostTaken` accounts; without it, its whole share. */
  async #round(mostTaken?: number): Promise<void> {
    const beatAtMs = this.#deps.clock.monotonic()
    if (!(await this.#heartbeat.beat())) {
      this.#deps.log.warn('Another instance declared this one dead; it registers again.', {
        operation: 'accounts.ownership',
      })
      this.#owned.drop()
      this.#due.all = true
      await this.#owned.reportDropped()
      await this.#heartbeat.register()
    }
    const instances = await this.#findLiving(beatAtMs)
    const living = instances.map(({ id }) => id)
    const isOld = beatAtMs - this.#lastFullMs >= this.#timing.fullRoundMs
    this.#due.all ||= isOld
    this.#due.share ||= living.join() !== this.#living.join() || (await this.#deps.store.hasUnowned())
    this.#living = living
    const due = this.#due.take()
    try {
      await this.#work(due, mostTaken)
    } catch (error) {
      // Accounts may have moved without being read.
      this.#due.all = true
      throw error
    }
    if (due.all) this.#lastFullMs = beatAtMs
  }

  /** Reads the instances, and removes those that are dead. */
  async #findLiving(beatAtMs: number): Promise<RegisteredInstance[]> {
    const { soleProcess, deadAfterMs, settleMs } = this.#timing
    const instances = await this.#deps.store.instances()
    const isOther = ({ id }: RegisteredInstance) => id !== this.instanceId
    const isSilent = instances.some((instance) => isOther(instance) && instance.silentMs > deadAfterMs)
    const mayJudge = !soleProcess && beatAtMs - this.#heartbeat.steadySinceMs >= settleMs
    const dead = isSilent && mayJudge ? await this.#removeDead(deadAfterMs) : []
    const living = instances.filter(({ id }) => !dead.includes(id))
    const others = living.filter(isOther)
    this.#locks = new Map(others.flatMap(({ id, lockKey }) => (lockKey === null ? [] : [[id, lockKey] as const])))
    return living
  }

  async #work({ all, share, accounts }: ReturnType<DueWork['take']>, mostTaken?: number): Promise<void> {
    const { store } = this.#deps
    const { left, isChanged } = share ? await this.#share.move(mostTaken) : UNMOVED
    if (share) this.#freeRounds = left === 'free' ? this.#freeRounds + 1 : 0
    if (left !== 'nothing') this.#due.share = true
    if (all || isChanged) await this.#owned.replace(store.mine(this.instanceId))
    else if (accounts.length > 0) this.#owned.refresh(accounts, await store.findMine(this.instanceId, accounts))
  }

  #removeDead(silentMs: number | 'all'): Promise<string[]> {
    return removeInstances(this.#deps, 'heartbeat', (store) => store.removeDead(this.instanceId, silentMs))
  }
}
