import type { Bus } from '../../../infra/bus/index.ts'
import type { Db } from '../../../infra/db/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { ACCOUNTS_TOPIC, type Ownership, type OwnershipChange } from '../account.ts'
import type { RunTotals } from '../scheduler/owned-scheduler.ts'
import { fairMove } from './fair-share.ts'
import { instanceStore, livingInstances, type OwnedAccount } from './instance-store.ts'

export interface OwnershipDeps {
  db: Db
  bus: Bus
  clock: Clock
  log: Log
  /** One per process life; the same id the queue leases under. */
  instanceId: string
  /** Frees what else a dead process held. Called once per death, by one of the living. */
  onInstanceDead(instanceId: string): Promise<void>
  timing?: Partial<OwnershipTiming>
}

export interface OwnershipTiming {
  /** Between two rounds. */
  roundMs: number
  /** At most this long between two rounds that read every account, with or without a hint. */
  fullRoundMs: number
  /** An instance that was silent for so long is dead. */
  deadAfterMs: number
  /** Least time between two rounds that were asked for by hints. */
  hintGapMs: number
  /** How many accounts an instance gives back per round when another has joined. */
  movesPerRound: number
  /** No other process can be alive: everything is free at once. True for the file store, whose folder is locked. */
  soleProcess: boolean
}

const TAKEN_PER_TRANSACTION = 200

/**
 * One round: beat → bury the dead → take or give back a fair share → read the owned accounts and notify the listeners. The
 * last two read every account, so they run only when a hint, another set of instances or a free account asks for them,
 * when the last full round did not finish, and every `fullRoundMs`: a lost hint delays a change by that long. Ownership is
 * always read from the rows, so a round that failed halfway costs nothing but time.
 */
export function ownership(deps: OwnershipDeps): Ownership {
  return new Rounds(deps)
}

class Rounds implements Ownership {
  readonly instanceId: string
  readonly #deps: OwnershipDeps
  readonly #timing: OwnershipTiming
  readonly #listeners: ((change: OwnershipChange) => void)[] = []
  readonly #roundListeners: (() => void)[] = []
  #syncTotals: () => RunTotals | undefined = () => undefined
  #accounts: ReadonlyMap<string, OwnedAccount> = new Map()
  #epochs: ReadonlyMap<string, number> = new Map()
  #lastBeatMs = 0
  #beatFailure: unknown
  #lastGiveBackMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
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
    return this.#epochs
  }

  mailHost(accountId: string): string {
    return this.#accounts.get(accountId)?.mailHost ?? ''
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
    this.#listeners.push(listener)
  }

  async start(): Promise<void> {
    await this.#register()
    this.#unsubscribe = this.#deps.bus.subscribe(ACCOUNTS_TOPIC, () => this.#hint())
    if (this.#timing.soleProcess) await this.#bury('whatever')
    this.#running = this.#round()
    try {
      await this.#running
    } finally {
      this.#running = undefined
    }
    this.#schedule()
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#leave()
    return this.#stopping
  }

  async #leave(): Promise<void> {
    this.#unsubscribe?.()
    clearTimeout(this.#timer)
    await this.#running?.catch(() => {})
    this.#see([])
    try {
      await this.#write((store) => store.unregister(this.instanceId))
      this.#deps.bus.publish(ACCOUNTS_TOPIC)
    } catch (error) {
      // The others find out by themselves: this instance beats no more.
      this.#deps.log.warn('The accounts could not be given back', { operation: 'accounts.ownership', error })
    }
  }

  /** Somebody said that there is something to take. Many hints make one round, and rounds keep their distance. */
  #hint(): void {
    if (this.#hinted || this.#stopping !== undefined) return
    this.#hinted = true
    // Without a timer a round is running, or the first has not begun; what follows it sees the hint.
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
    this.#running = this.#round()
    try {
      await this.#running
      for (const listener of this.#roundListeners) listener()
    } catch (error) {
      this.#deps.log.warn('A round of account ownership failed; the next one looks again', {
        operation: 'accounts.ownership',
        error,
      })
      // Others may have taken everything by now. Without a beat this process must not act as an owner.
      if (this.#deps.clock.monotonic() - this.#lastBeatMs > this.#timing.deadAfterMs) this.#see([])
    } finally {
      this.#running = undefined
      this.#schedule()
    }
  }

  async #round(): Promise<void> {
    const beatAtMs = this.#deps.clock.monotonic()
    if (await this.#beat()) {
      this.#lastBeatMs = beatAtMs
    } else {
      this.#deps.log.warn('This instance was declared dead and begins anew', { operation: 'accounts.ownership' })
      this.#see([])
      this.#fullDue = true
      await this.#register()
    }
    if (!this.#timing.soleProcess) await this.#bury(this.#timing.deadAfterMs)
    const living = (await livingInstances(this.#deps.db.read)).join()
    const isOld = beatAtMs - this.#lastFullMs >= this.#timing.fullRoundMs
    this.#fullDue ||= isOld || living !== this.#living || (await this.#reader().hasUnowned())
    if (!this.#fullDue) return
    const isBalanced = await this.#move()
    this.#see(await this.#reader().mine(this.instanceId))
    this.#fullDue = !isBalanced
    this.#lastFullMs = beatAtMs
    this.#living = living
  }

  /** The one write that comes every few seconds, whether there is work or not: what it meets, others would. */
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

  async #bury(silentMs: number | 'whatever'): Promise<void> {
    for (const id of await this.#write((store) => store.bury(this.instanceId, silentMs))) {
      this.#deps.log.warn('An instance is dead; its accounts are taken over', {
        operation: 'accounts.ownership',
        metadata: { dead: id },
      })
      try {
        await this.#deps.onInstanceDead(id)
      } catch (error) {
        // Its leases end by themselves; this only would have been faster.
        this.#deps.log.warn('What a dead instance held could not be freed', {
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
    // Buried since the beat: the next round begins anew.
    if (!shares.owned.has(this.instanceId)) return false
    const { take, giveBack } = fairMove({ me: this.instanceId, ...shares })
    const nowMs = this.#deps.clock.monotonic()
    // Hints make rounds frequent; giving back stays gradual, or thousands of mailboxes would reconnect at once.
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

  /** Compares what is ours now with what was, and tells the difference. */
  #see(rows: readonly OwnedAccount[]): void {
    const before = this.#accounts
    const now = new Map(rows.map((row) => [row.id, row]))
    const change: OwnershipChange = { lost: [], gained: [], changed: [] }
    for (const [id, account] of before) if (now.get(id)?.epoch !== account.epoch) change.lost.push(id)
    for (const [id, account] of now) {
      const old = before.get(id)
      if (old?.epoch !== account.epoch) change.gained.push(id)
      else if (differs(old, account)) change.changed.push(id)
    }
    this.#accounts = now
    this.#epochs = new Map(rows.map((row) => [row.id, row.epoch]))
    if (change.lost.length + change.gained.length + change.changed.length === 0) return
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        this.#deps.log.error('A listener failed on a change of ownership', { operation: 'accounts.ownership', error })
      }
    }
  }

  #reader() {
    return instanceStore(this.#deps.db.read, this.#deps.db.dialect)
  }

  #write<T>(body: (store: ReturnType<typeof instanceStore>) => Promise<T>): Promise<T> {
    return this.#deps.db.transaction((tx) => body(instanceStore(tx, this.#deps.db.dialect)))
  }
}

function differs(before: OwnedAccount, now: OwnedAccount): boolean {
  return before.paused !== now.paused || before.watch !== now.watch || before.accessVersion !== now.accessVersion
}
