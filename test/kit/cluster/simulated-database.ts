import type { OwnedAccount, OwnershipStore } from '../../../src/accounts/cluster/index.ts'
import type { MemoryStore } from './memory-store.ts'
import type { SimulatedTime } from './simulated-time.ts'

/** What statements cost the database, as `npm run bench scaling` measures it. */
export interface StatementCosts {
  /** Time of one core for any statement, and in addition for each row. */
  statementMs: number
  readRowMs: number
  writtenRowMs: number
  roundTripMs: number
  /** How many statements it runs at once. */
  cores: number
}

export interface Load {
  statements: number
  rowsRead: number
  rowsWritten: number
  cpuMs: number
}

/** One call of the store: its statements, and the rows that the database touches for it. */
interface Call {
  kind: string
  statements: number
  read?: number
  written?: number
}

/** `begin` and `commit`. */
const TRANSACTION = 2

/**
 * Puts a store in memory behind a database that needs time: statements wait for a free core, then take what their rows cost.
 * Counts them by kind. Each has its effect when it ends.
 */
export class SimulatedDatabase {
  readonly #time: SimulatedTime
  readonly #store: MemoryStore
  readonly #costs: StatementCosts
  /** When each core is free. */
  readonly #freeAtMs: number[]
  #loads = new Map<string, Load>()
  #pausedUntilMs = 0

  constructor(time: SimulatedTime, store: MemoryStore, costs: StatementCosts) {
    this.#time = time
    this.#store = store
    this.#costs = costs
    this.#freeAtMs = Array.from({ length: costs.cores }, () => 0)
  }

  /** Runs no statement until then. Sessions and locks remain. */
  pause(ms: number): void {
    this.#pausedUntilMs = this.#time.nowMs + ms
  }

  /** The load by kind since the last call. */
  takeLoads(): ReadonlyMap<string, Load> {
    const loads = this.#loads
    this.#loads = new Map()
    return loads
  }

  /** The store as one instance sees it. `isAlive`: a dead instance never learns how its call ended. */
  connect(isAlive: () => boolean): OwnershipStore {
    const store = this.#store
    const run = <T>(call: Call, body: () => Promise<T>) => this.run(call, body, isAlive)
    const write = <T>(kind: string, rows: { read?: number; written?: number }, body: () => Promise<T>) =>
      run({ kind, statements: TRANSACTION + 1, ...rows }, body)
    return {
      register: (id, lockKey) => write('register', { written: 1 }, () => store.register(id, lockKey)),
      beat: (id, state) => write('heartbeat', { read: 1, written: 1 }, () => store.beat(id, state)),
      removeDead: (me, silentMs) =>
        write('remove dead', { read: store.instanceCount }, () => store.removeDead(me, silentMs)),
      removeWithoutLock: (ids) => write('remove dead', { read: ids.length }, () => store.removeWithoutLock(ids)),
      unregister: (id) => write('register', { written: 1 }, () => store.unregister(id)),
      instances: () => run({ kind: 'instances', statements: 1, read: store.instanceCount }, () => store.instances()),
      hasUnowned: () => run({ kind: 'find free', statements: 1, read: 1 }, () => store.hasUnowned()),
      shares: () =>
        run({ kind: 'shares', statements: 2, read: store.instanceCount + store.accountCount }, () => store.shares()),
      take: (me, limit) => this.#take(me, limit, isAlive),
      claim: (me, accountId) => write('claim', { read: 2, written: 1 }, () => store.claim(me, accountId)),
      giveBack: (me, limit) => write('give back', { read: limit, written: limit }, () => store.giveBack(me, limit)),
      mine: (me) => this.#mine(me, isAlive),
    }
  }

  async #take(me: string, limit: number, isAlive: () => boolean): Promise<number> {
    // The index of ids is read until enough free accounts were found.
    const read = this.#store.rowsUntilFree(limit)
    return this.run(
      { kind: 'take', statements: TRANSACTION + 2, read, written: limit },
      () => this.#store.take(me, limit),
      isAlive,
    )
  }

  async *#mine(me: string, isAlive: () => boolean): AsyncGenerator<OwnedAccount[]> {
    for await (const page of this.#store.mine(me)) {
      await this.run({ kind: 'read own', statements: 1, read: page.length }, async () => {}, isAlive)
      yield page
    }
  }

  async run<T>(call: Call, body: () => Promise<T>, isAlive: () => boolean): Promise<T> {
    const { statements, read = 0, written = 0 } = call
    const { statementMs, readRowMs, writtenRowMs, roundTripMs } = this.#costs
    const cpuMs = statements * statementMs + read * readRowMs + written * writtenRowMs
    const load = this.#loads.get(call.kind) ?? { statements: 0, rowsRead: 0, rowsWritten: 0, cpuMs: 0 }
    load.statements += statements
    load.rowsRead += read
    load.rowsWritten += written
    load.cpuMs += cpuMs
    this.#loads.set(call.kind, load)
    const endMs = this.#occupyCore(cpuMs) + statements * roundTripMs
    await this.#time.sleep(endMs - this.#time.nowMs)
    // The process is gone: nothing continues.
    if (!isAlive()) return new Promise(() => {})
    return body()
  }

  /** Returns when a statement that begins as soon as a core is free has ended. */
  #occupyCore(cpuMs: number): number {
    const startMs = Math.max(this.#time.nowMs, this.#pausedUntilMs)
    let core = 0
    for (let index = 1; index < this.#freeAtMs.length; index += 1) {
      if ((this.#freeAtMs[index] ?? 0) < (this.#freeAtMs[core] ?? 0)) core = index
    }
    const endMs = Math.max(startMs, this.#freeAtMs[core] ?? 0) + cpuMs
    this.#freeAtMs[core] = endMs
    return endMs
  }
}
