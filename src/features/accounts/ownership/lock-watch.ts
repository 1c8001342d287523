import type { Presence } from '../../../infra/presence/index.ts'
import type { Clock } from '../../../lib/clock.ts'

export interface LockWatchTiming {
  /** A missing lock proves nothing to a session younger than this: after a restart of the server, everyone takes its lock again. */
  sessionMs: number
  /** How long a lock must be missing, because an instance may have lost only its connection. */
  missingMs: number
}

/** How often a lock must be found missing, because a pause of the machine may lie between two reads. */
const MISSING_READS = 3

/** Finds instances that are certainly dead, by their missing locks. */
export class LockWatch {
  readonly #presence: Presence
  readonly #clock: Clock
  readonly #timing: LockWatchTiming
  /** By instance id, since when this session finds the lock missing, and how often it did. */
  #missing = new Map<string, { sinceMs: number; reads: number }>()
  /** The age of this session at the last read. */
  #sessionMs = 0

  constructor(presence: Presence, clock: Clock, timing: LockWatchTiming) {
    this.#presence = presence
    this.#clock = clock
    this.#timing = timing
  }

  /** When to read the locks again: more often while one is missing, and as soon as this session may prove a death. */
  nextReadInMs(usualMs: number): number {
    if (this.#missing.size === 0) return usualMs
    const untilOldMs = this.#timing.sessionMs - this.#sessionMs
    return untilOldMs > 0 ? Math.min(untilOldMs, usualMs / 2) : usualMs / 2
  }

  /** `locks`: the keys of the instances that held their lock at their last heartbeat, by id. Returns the ids of the dead ones. */
  async findDead(locks: ReadonlyMap<string, string>): Promise<string[]> {
    const view = await this.#presence.read()
    const before = this.#missing
    this.#missing = new Map()
    if (view === undefined) return []
    this.#sessionMs = view.sessionMs
    const nowMs = this.#clock.monotonic()
    const dead: string[] = []
    for (const [id, key] of locks) {
      if (view.keys.has(key)) continue
      const known = before.get(id)
      const isOfSession = known !== undefined && known.sinceMs >= nowMs - view.sessionMs
      const missing = isOfSession ? { ...known, reads: known.reads + 1 } : { sinceMs: nowMs, reads: 1 }
      this.#missing.set(id, missing)
      const isProven = nowMs - missing.sinceMs >= this.#timing.missingMs && missing.reads >= MISSING_READS
      if (isProven && view.sessionMs >= this.#timing.sessionMs) dead.push(id)
    }
    return dead
  }
}
