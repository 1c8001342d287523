import type { OwnedAccount, OwnershipStore } from '../../../src/accounts/cluster/index.ts'
import type { MemoryStore } from './memory-store.ts'
import type { SimulatedTime } from './simulated-time.ts'

/** What statements cost the database, as `npm run bench scaling` measures it. */
export interface StatementCosts {
  /** Time of one core for any statement. */
  statementMs: number
  /** In addition for each row that is returned, row that is only counted, range of an index that is looked up, lock that is listed, and row that is written. */
  readRowMs: number
  countedRowMs: number
  lookupMs: number
  lockMs: number
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
  counted?: number
  lookups?: number
  locks?: number
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
    const one = <T>(kind: string, rows: Omit<Call, 'kind' | 'statements'>, body: () => Promise<T>) =>
      run({ kind, statements: 1, ...rows }, body)
    /** An index has a range for each owner, and the server looks up the beginning of each. */
    const owners = () => store.instanceCount + (store.ofRemoved > 0 ? 1 : 0)
    return {
      register: (id, lockKey) => one('register', { written: 1 }, () => store.register(id, lockKey)),
      beat: (id, state) => one('heartbeat', { read: 1, written: 1 }, () => store.beat(id, state)),
      removeDead: (me, silentMs) =>
        one('remove dead', { read: store.instanceCount }, () => store.removeDead(me, silentMs)),
      removeWithoutLock: (ids) => one('remove dead', { read: ids.length }, () => store.removeWithoutLock(ids)),
      unregister: (id) => one('register', { written: 1 }, () => store.unregister(id)),
      instances: () => one('instances', { read: store.instanceCount }, () => store.instances()),
      hasUnowned: () => one('find free', { read: 1 }, () => store.hasUnowned()),
      countOwned: (ids) => one('count', { read: ids.length }, () => store.countOwned(ids)),
      shares: (limit) => {
        const counted = Math.min(limit, store.withoutOwner) + store.ofRemoved
        return one('shares', { read: store.instanceCount, counted, lookups: owners() }, () => store.shares(limit))
      },
      take(me, limit) {
        const isOfRemoved = store.withoutOwner < limit
        const statements = TRANSACTION + (isOfRemoved ? 5 : 3)
        const taken = Math.min(limit, store.free)
        const lookups = isOfRemoved ? owners() : 0
        return run({ kind: 'take', statements, read: taken, lookups, written: taken + 1 }, () => store.take(me, limit))
      },
      claim: (me, accountId) =>
        run({ kind: 'claim', statements: TRANSACTION + 3, read: 3, written: 2 }, () => store.claim(me, accountId)),
      giveBack: (me, limit) =>
        run({ kind: 'give back', statements: TRANSACTION + 3, read: limit, written: limit + 1 }, () =>
          store.giveBack(me, limit),
        ),
      findMine: (me, accountIds) => one('read own', { read: accountIds.length }, () => store.findMine(me, accountIds)),
      mine: (me) => this.#mine(me, isAlive),
    }
  }

  async *#mine(me: string, isAlive: () => boolean): AsyncGenerator<OwnedAccount[]> {
    for await (const page of this.#store.mine(me)) {
      await this.run({ kind: 'read own', statements: 1, read: page.length }, async () => {}, isAlive)
      yield page
    }
  }

  async run<T>(call: Call, body: () => Promise<T>, isAlive: () => boolean): Promise<T> {
    const { statements, read = 0, counted = 0, lookups = 0, locks = 0, written = 0 } = call
    const { statementMs, readRowMs, countedRowMs, lookupMs, lockMs, writtenRowMs, roundTripMs } = this.#costs
    const readMs = read * readRowMs + counted * countedRowMs + lookups * lookupMs + locks * lockMs
    const cpuMs = statements * statementMs + readMs + written * writtenRowMs
    const load = this.#loads.get(call.kind) ?? { statements: 0, rowsRead: 0, rowsWritten: 0, cpuMs: 0 }
    load.statements += statements
    load.rowsRead += read + counted + lookups + locks
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
