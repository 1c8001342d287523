import type { Db } from '../../../src/platform/db/index.ts'

/** Holds one transaction of a sync until the test releases it. */
export class HeldTransactions {
  #left = Number.POSITIVE_INFINITY
  #release: (() => void) | undefined

  /** Holds the second of the transactions that store parts of steps from now on. */
  holdSecond(): void {
    this.#left = 2
  }

  get isHeld(): boolean {
    return this.#release !== undefined
  }

  release(): void {
    this.#release?.()
  }

  of(db: Db): Db {
    return {
      ...db,
      transaction: async (work, options) => {
        if (options?.bulk) this.#left -= 1
        if (options?.bulk && this.#left === 0) await new Promise<void>((resolve) => (this.#release = resolve))
        return db.transaction(work, options)
      },
    }
  }
}
