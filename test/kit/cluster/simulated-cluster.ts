import { ownershipOn } from '../../../src/accounts/cluster/index.ts'
import { ACCOUNTS_TOPIC, type Ownership } from '../../../src/accounts/index.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import type { Presence } from '../../../src/platform/presence/index.ts'
import type { Timers } from '../../../src/platform/time/timers.ts'
import { MemoryStore } from './memory-store.ts'
import { SimulatedBus } from './simulated-bus.ts'
import { SimulatedDatabase, type StatementCosts } from './simulated-database.ts'
import { SimulatedLocks } from './simulated-locks.ts'
import { SimulatedTime } from './simulated-time.ts'

export interface SimulatedInstance {
  readonly id: string
  readonly ownership: Ownership
  readonly presence: Presence
  isAlive: boolean
}

interface InstanceOptions {
  /** The clock of its machine is ahead by so much. */
  clockAheadMs?: number
  /** The clock of its machine runs faster by this factor. */
  clockRate?: number
}

/**
 * Instances that run the ownership of the service, on a store in memory behind a database that needs time, with a simulated clock. What is
 * simulated: the database's time and its statements, the bus, the session locks, the clocks.
 */
export class SimulatedCluster {
  readonly time = new SimulatedTime()
  readonly store = new MemoryStore(() => this.time.nowMs)
  readonly bus = new SimulatedBus(this.time)
  readonly database: SimulatedDatabase
  readonly #locks: SimulatedLocks
  /** The connection to the bus of whatever is no instance here. */
  readonly #outside = this.bus.connect(() => true)
  readonly instances: SimulatedInstance[] = []
  /** When an account lost its owner, by id, until another instance runs it. */
  readonly #lostAtMs = new Map<string, number>()
  #takeOversMs: number[] = []
  #moves = 0
  #count = 0
  readonly #random = seededRandom(1)

  constructor(costs: StatementCosts, accounts: number) {
    this.database = new SimulatedDatabase(this.time, this.store, costs)
    this.#locks = new SimulatedLocks(this.time, this.database)
    for (let index = 0; index < accounts; index += 1) this.store.addAccount(accountId(index))
  }

  get living(): SimulatedInstance[] {
    return this.instances.filter(({ isAlive }) => isAlive)
  }

  /** Starts an instance. Resolves when it has run its first round; time must pass meanwhile. */
  async start(options: InstanceOptions = {}): Promise<SimulatedInstance> {
    this.#count += 1
    const id = `ins_${String(this.#count).padStart(5, '0')}`
    const isAlive = () => instance.isAlive
    const presence = this.#locks.hold(id, isAlive)
    const { clockAheadMs = 0, clockRate = 1 } = options
    const ownership = ownershipOn({
      store: this.database.connect(isAlive),
      bus: this.bus.connect(isAlive),
      clock: {
        now: () => this.time.nowMs * clockRate + clockAheadMs,
        monotonic: () => this.time.nowMs * clockRate + clockAheadMs,
      },
      timers: this.#timers(isAlive, clockRate),
      log: silentLog,
      instanceId: id,
      random: this.#random,
      presence,
      onInstanceDead: async () => {},
    })
    const instance: SimulatedInstance = { id, ownership, presence, isAlive: true }
    ownership.onChange(({ gained }) => this.#recordTakeOvers(gained))
    ownership.onChange(({ gained }) => {
      this.#moves += gained.length
    })
    this.instances.push(instance)
    await ownership.start()
    return instance
  }

  /** Stops an instance as SIGTERM does. */
  async stop(instance: SimulatedInstance): Promise<void> {
    this.#markLost(instance)
    await instance.ownership.stop()
    this.kill(instance)
  }

  /** Ends an instance as SIGKILL does: the server releases its lock, and nothing of it continues. */
  kill(instance: SimulatedInstance): void {
    if (!instance.isAlive) return
    this.#markLost(instance)
    instance.isAlive = false
    this.#locks.release(instance.id)
    const index = this.instances.indexOf(instance)
    if (index >= 0) this.instances.splice(index, 1)
  }

  /** A request at some instance changes an account, which all instances learn from a hint. */
  changeAccount(index: number): void {
    this.store.change(accountId(index))
    this.#outside.publish(ACCOUNTS_TOPIC, accountId(index))
  }

  /** How long accounts had no owner, of those that another instance took since the last call. */
  takeOversMs(): number[] {
    const taken = this.#takeOversMs
    this.#takeOversMs = []
    return taken
  }

  /** How many accounts began to run at another instance since the last call. */
  takeMoves(): number {
    const moves = this.#moves
    this.#moves = 0
    return moves
  }

  /** Accounts that lost their owner and have no new one. */
  get waiting(): number {
    return this.#lostAtMs.size
  }

  /** The numbers of accounts that the living instances run, as they know it. */
  counts(): number[] {
    return this.living.map(({ ownership }) => ownership.owned().size)
  }

  #markLost({ ownership }: SimulatedInstance): void {
    for (const id of ownership.owned().keys()) this.#lostAtMs.set(id, this.time.nowMs)
  }

  #recordTakeOvers(gained: readonly string[]): void {
    for (const id of gained) {
      const lostAtMs = this.#lostAtMs.get(id)
      if (lostAtMs === undefined) continue
      this.#lostAtMs.delete(id)
      this.#takeOversMs.push(this.time.nowMs - lostAtMs)
    }
  }

  #timers(isAlive: () => boolean, clockRate: number): Timers {
    return {
      start: (run, delayMs) =>
        this.time.start(() => {
          if (isAlive()) run()
        }, delayMs / clockRate),
    }
  }
}

/** mulberry32: every run of a simulation makes the same choices. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const accountId = (index: number) => `acc_${String(index).padStart(8, '0')}`
