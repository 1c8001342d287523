import { AppError } from '../../platform/errors/app-error.ts'

interface VerificationLimits {
  /** Verifications in progress in this process. */
  total: number
  /** The limit for one mail host, and for one client address. */
  perKey: number
  /** How long one waits for its turn. */
  waitMs: number
}

const LIMITS: VerificationLimits = { total: 20, perKey: 3, waitMs: 3000 }

/**
 * Limits how many sign-ins to mail servers are checked at once. Each may take 10 s and some memory, and the server is any that a
 * visitor names.
 */
export class VerificationLimit {
  readonly #limits: VerificationLimits
  readonly #running = new Map<string, number>()
  readonly #waiting = new Set<() => void>()
  #total = 0

  constructor(limits: Partial<VerificationLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  /** Runs the work when it is its turn. Throws `rate_limited` when that takes too long. */
  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    if (!this.#start(keys) && !(await this.#waitToStart(keys))) {
      throw new AppError('rate_limited', {
        message: 'Too many sign-ins are being checked at the moment. Try again in a few seconds.',
        headers: { 'retry-after': '5' },
      })
    }
    try {
      return await work()
    } finally {
      this.#end(keys)
    }
  }

  #start(keys: readonly string[]): boolean {
    const { total, perKey } = this.#limits
    if (this.#total >= total || keys.some((key) => (this.#running.get(key) ?? 0) >= perKey)) return false
    this.#total += 1
    for (const key of keys) this.#running.set(key, (this.#running.get(key) ?? 0) + 1)
    return true
  }

  #waitToStart(keys: readonly string[]): Promise<boolean> {
    return new Promise((resolve) => {
      const stop = (hasStarted: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(attempt)
        resolve(hasStarted)
      }
      const attempt = () => {
        if (this.#start(keys)) stop(true)
      }
      const timer = setTimeout(() => stop(false), this.#limits.waitMs)
      this.#waiting.add(attempt)
    })
  }

  #end(keys: readonly string[]): void {
    this.#total -= 1
    for (const key of keys) {
      const left = (this.#running.get(key) ?? 1) - 1
      if (left === 0) this.#running.delete(key)
      else this.#running.set(key, left)
    }
    for (const attempt of [...this.#waiting]) attempt()
  }
}
