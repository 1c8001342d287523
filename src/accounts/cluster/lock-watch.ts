import type { Presence } from '../../platform/presence/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Timers } from '../../platform/time/timers.ts'

export interface LockWatchTiming {
  /** Interval between reads of the locks. Half of it while one is missing. */
  lockReadMs: number
  /** A missing lock proves nothing to a session younger than this: after a restart of the server, everyone takes its lock again. */
  sessionMs: number
  /** How long a lock must be missing, because an instance may have lost only its connection. */
  missingMs: number
}

/** How often a lock must be found missing, because a pause of the machine may lie between two reads. */
const MISSING_READS = 3
/**
 * So many instances read at full pace. Of more, each reads less often, at random times: one of them sees a missing lock as
 * soon, and the server lists all locks for each read.
 */
const READERS = 10

interface LockWatchDeps {
  clock: Clock
  timers: Timers
  /** Returns numbers in [0, 1). */
  random(): number
}

interface LockWatchTarget {
  /** The keys of the instances that held their lock at their last heartbeat, by id. */
  locks(): ReadonlyMap<string, string>
  /** Instances that are certainly dead. The next read follows when this has ended; it must not reject. */
  onDead(ids: readonly string[]): Promise<void>
}

/** Reads the locks of instances again and again, and finds those that are certainly dead, by their missing locks. */
export class LockWatch {
  readonly #presence: Presence
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #random: () => number
  /** Other instances with locks, at the last read. */
  #watched = 0
  readonly #timing: LockWatchTiming
  #cancelTimer = () => {}
  #reading: Promise<void> = Promise.resolve()
  #isStopped = false
  /** By instance id, since when this session finds the lock missing, and how often it did. */
  #missing = new Map<string, { sinceMs: number; reads: number }>()
  /** The age of this session at the last read. */
  #sessionMs = 0

  constructor(presence: Presence, { clock, timers, random }: LockWatchDeps, timing: LockWatchTiming) {
    this.#presence = presence
    this.#clock = clock
    this.#timers = timers
    this.#random = random
    this.#timing = timing
  }

  start(target: LockWatchTarget): void {
    if (this.#isStopped) return
    this.#cancelTimer = this.#timers.start(() => {
      this.#reading = this.#read(target).finally(() => this.start(target))
    }, this.#nextReadInMs())
  }

  /** Waits for a read that has begun. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer()
    await this.#reading
  }

  async #read({ locks, onDead }: LockWatchTarget): Promise<void> {
    const dead = await this.#findDead(locks())
    if (dead.length > 0 && !this.#isStopped) await onDead(dead)
  }

  /** More often while a lock is missing, and as soon as this session may prove a death. */
  #nextReadInMs(): number {
    const { lockReadMs, sessionMs } = this.#timing
    if (this.#missing.size === 0) return this.#paceMs()
    const untilOldMs = sessionMs - this.#sessionMs
    return untilOldMs > 0 ? Math.min(untilOldMs, lockReadMs / 2) : lockReadMs / 2
  }

  #paceMs(): number {
    const { lockReadMs } = this.#timing
    if (this.#watched <= READERS) return lockReadMs
    return ((2 * this.#watched) / READERS) * lockReadMs * this.#random()
  }

  async #findDead(locks: ReadonlyMap<string, string>): Promise<string[]> {
    const view = await this.#presence.read()
    const before = this.#missing
    this.#watched = locks.size
    this.#missing = new Map()
    if (view === undefined) return []
    this.#sessionMs = view.sessionMs
    const nowMs = this.#clock.monotonic()
    const dead: string[] = []
    for (const [id, key] of locks) {
      if (view.keys.has(key)) continue
      const previous = before.get(id)
      const isOfSession = previous !== undefined && previous.sinceMs >= nowMs - view.sessionMs
      const missing = isOfSession ? { ...previous, reads: previous.reads + 1 } : { sinceMs: nowMs, reads: 1 }
      this.#missing.set(id, missing)
      const isProven = nowMs - missing.sinceMs >= this.#timing.missingMs && missing.reads >= MISSING_READS
      if (isProven && view.sessionMs >= this.#timing.sessionMs) dead.push(id)
    }
    return dead
  }
}
