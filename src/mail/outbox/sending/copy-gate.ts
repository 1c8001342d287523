import { Condition } from '../../../platform/concurrency/condition.ts'
import type { Clock } from '../../../platform/time/clock.ts'

/** Runs that wait at once: each keeps a worker, which other accounts need to send. */
const MAX_WAITING = 32

/**
 * Lets messages of all accounts be sent before copies are saved in Sent: a server needs as long for a copy as another one for the
 * message.
 */
export class CopyGate {
  readonly #clock: Clock
  readonly #changed = new Condition()
  #sending = 0
  #waiting = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Call it when a run begins to send messages, and the function that it returns, once, when the run has sent the last one. */
  startSending(): () => void {
    this.#sending += 1
    return () => {
      this.#sending -= 1
      this.#changed.signal()
    }
  }

  /**
   * Waits until no run sends, and returns true; false when runs still send after `maxWaitMs`. True at once when many wait, or when
   * `abort` fires.
   */
  async wait(maxWaitMs: number, abort: AbortSignal): Promise<boolean> {
    if (this.#waiting >= MAX_WAITING) return true
    const endsAtMs = this.#clock.monotonic() + maxWaitMs
    this.#waiting += 1
    try {
      for (;;) {
        if (this.#sending === 0 || abort.aborted) return true
        const leftMs = endsAtMs - this.#clock.monotonic()
        if (leftMs <= 0) return false
        await this.#changed.wait(this.#changed.count, leftMs, abort)
      }
    } finally {
      this.#waiting -= 1
    }
  }
}
