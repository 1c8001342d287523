import type { Clock } from '../../lib/clock.ts'

/** Runs a subject once; answers when it should run again and its failures in a row. Never rejects. */
type Turn = (subject: string, attempts: number) => Promise<{ nextMs: number; attempts: number } | undefined>

interface Waiting {
  /** Monotonic. */
  dueAt: number
  attempts: number
}

/**
 * The subjects that one process runs by itself while the shared queue is away. Only in memory: the rows of the rooms are the
 * truth, and two processes that run one subject at such a time are kept apart by the leases of the rows.
 */
export class LocalTurns {
  readonly #clock: Clock
  readonly #concurrency: number
  readonly #turn: Turn
  readonly #waiting = new Map<string, Waiting>()
  readonly #running = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(clock: Clock, concurrency: number, turn: Turn) {
    this.#clock = clock
    this.#concurrency = concurrency
    this.#turn = turn
  }

  /** Keeps the earlier time of a subject that waits; one that runs, runs once more afterwards. */
  add(subject: string, delayMs: number, attempts = 0): void {
    const dueAt = this.#clock.monotonic() + delayMs
    const known = this.#waiting.get(subject)
    if (known === undefined || dueAt < known.dueAt) {
      this.#waiting.set(subject, { dueAt, attempts: known?.attempts ?? attempts })
    }
    this.#look()
  }

  remove(subject: string): void {
    this.#waiting.delete(subject)
  }

  /** Gives away what waits. What runs here ends here, and asks for its next turn then. */
  handOver(): { subject: string; delayMs: number; attempts: number }[] {
    const now = this.#clock.monotonic()
    const given = [...this.#waiting].map(([subject, { dueAt, attempts }]) => {
      return { subject, delayMs: Math.max(0, dueAt - now), attempts }
    })
    this.#waiting.clear()
    return given
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#waiting.clear()
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  #look(): void {
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    const now = this.#clock.monotonic()
    let nextAt = Number.POSITIVE_INFINITY
    for (const [subject, { dueAt, attempts }] of this.#waiting) {
      if (this.#running.size >= this.#concurrency) return
      if (this.#running.has(subject)) continue
      if (dueAt <= now) this.#start(subject, attempts)
      else nextAt = Math.min(nextAt, dueAt)
    }
    if (nextAt < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#look(), nextAt - now)
  }

  #start(subject: string, attempts: number): void {
    this.#waiting.delete(subject)
    const turn = this.#turn(subject, attempts).then((next) => {
      this.#running.delete(subject)
      if (next !== undefined) this.add(subject, next.nextMs, next.attempts)
      this.#look()
    })
    this.#running.set(subject, turn)
  }
}
