import type { Presence } from '../../../src/platform/presence/index.ts'
import type { SimulatedDatabase } from './simulated-database.ts'
import type { SimulatedTime } from './simulated-time.ts'

/** The session locks of all instances. The server releases that of a dead process at once. */
export class SimulatedLocks {
  readonly #time: SimulatedTime
  readonly #database: SimulatedDatabase
  readonly #held = new Set<string>()

  constructor(time: SimulatedTime, database: SimulatedDatabase) {
    this.#time = time
    this.#database = database
  }

  release(instanceId: string): void {
    this.#held.delete(keyOf(instanceId))
  }

  hold(instanceId: string, isAlive: () => boolean): Presence {
    const key = keyOf(instanceId)
    const sinceMs = this.#time.nowMs
    this.#held.add(key)
    return {
      key,
      isPooled: false,
      read: () =>
        this.#database.run(
          { kind: 'locks', statements: 1, locks: this.#held.size },
          async () => ({ keys: new Set(this.#held), sessionMs: this.#time.nowMs - sinceMs }),
          isAlive,
        ),
      onChange: () => {},
      close: async () => this.release(instanceId),
    }
  }
}

const keyOf = (instanceId: string) => `lock of ${instanceId}`
