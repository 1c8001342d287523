import type {
  BeatState,
  OwnedAccount,
  OwnershipStore,
  RegisteredInstance,
} from '../../../src/accounts/cluster/index.ts'
import { OwnerPool } from './owner-pool.ts'

export interface MemoryAccount extends OwnedAccount {
  /** Its place in the order in which the accounts were added. */
  number: number
  owner: string | null
  /** How often it changed its owner. */
  moves: number
}

interface Instance extends BeatState {
  heartbeatAtMs: number
}

const ACCOUNTS_PER_PAGE = 500

/**
 * The store of ownership in memory, for simulations with more accounts than a test can insert. Each method has its effect
 * at once. `src/accounts/cluster/store.test.ts` compares it with the database.
 */
export class MemoryStore implements OwnershipStore {
  readonly #now: () => number
  readonly #instances = new Map<string, Instance>()
  readonly #accounts = new Map<string, MemoryAccount>()
  readonly #pools = new Map<string | null, OwnerPool>()

  constructor(now: () => number) {
    this.#now = now
  }

  get accountCount(): number {
    return this.#accounts.size
  }

  get instanceCount(): number {
    return this.#instances.size
  }

  addAccount(id: string): void {
    const account: MemoryAccount = {
      id,
      number: this.#accounts.size + 1,
      owner: null,
      epoch: 0,
      paused: 0,
      watch: 1,
      accessVersion: 1,
      mailHost: 'imap.example.com',
      moves: 0,
    }
    this.#accounts.set(id, account)
    this.#pool(null).add(account)
  }

  /** How many rows an index of ids has up to the free account of this number: those of lower ids. */
  rowsUntilFree(limit: number): number {
    const last = this.#firstFree(limit).at(-1)
    return this.#firstFree(limit).length < limit || last === undefined ? this.#accounts.size : last.number
  }

  account(id: string): Readonly<MemoryAccount> | undefined {
    return this.#accounts.get(id)
  }

  /** A change of what its session depends on. */
  change(id: string): void {
    const account = this.#accounts.get(id)
    if (account !== undefined) account.accessVersion += 1
  }

  /** The instance wrote its last heartbeat so much earlier. */
  silence(id: string, ms: number): void {
    const instance = this.#instances.get(id)
    if (instance !== undefined) instance.heartbeatAtMs -= ms
  }

  async register(id: string, lockKey: string | null): Promise<void> {
    const syncTotals = this.#instances.get(id)?.syncTotals ?? null
    this.#instances.set(id, { heartbeatAtMs: this.#now(), syncTotals, lockKey })
  }

  async beat(id: string, state: BeatState): Promise<boolean> {
    if (!this.#instances.has(id)) return false
    this.#instances.set(id, { heartbeatAtMs: this.#now(), ...state })
    return true
  }

  async removeDead(me: string, silentMs: number | 'all'): Promise<string[]> {
    const nowMs = this.#now()
    const isDead = ({ heartbeatAtMs }: Instance) => silentMs === 'all' || heartbeatAtMs < nowMs - silentMs
    return this.#remove((id, instance) => id !== me && isDead(instance))
  }

  async removeWithoutLock(ids: readonly string[]): Promise<string[]> {
    return this.#remove((id, { lockKey }) => ids.includes(id) && lockKey !== null)
  }

  async unregister(id: string): Promise<void> {
    this.#instances.delete(id)
  }

  async instances(): Promise<RegisteredInstance[]> {
    const rows = [...this.#instances].map(([id, { lockKey }]) => ({ id, lockKey }))
    return rows.sort((left, right) => (left.id < right.id ? -1 : 1))
  }

  async hasUnowned(): Promise<boolean> {
    return this.#pool(null).size > 0
  }

  async shares(): Promise<{ owned: Map<string, number>; free: number }> {
    const owned = new Map([...this.#instances.keys()].map((id) => [id, this.#pool(id).size]))
    const taken = [...owned.values()].reduce((sum, count) => sum + count, 0)
    return { owned, free: this.#accounts.size - taken }
  }

  async take(me: string, limit: number): Promise<number> {
    const free = this.#firstFree(limit)
    for (const account of free) this.#own(account, me)
    return free.length
  }

  async claim(me: string, accountId: string): Promise<OwnedAccount | undefined> {
    const account = this.#accounts.get(accountId)
    if (account === undefined) return undefined
    if (!this.#isLiving(account.owner) && this.#instances.has(me)) this.#own(account, me)
    return account.owner === me ? read(account) : undefined
  }

  async giveBack(me: string, limit: number): Promise<void> {
    for (const account of this.#pool(me).last(limit)) this.#move(account, null)
  }

  async *mine(me: string): AsyncGenerator<OwnedAccount[]> {
    for (let after = ''; ; ) {
      const page = this.#pool(me).first(ACCOUNTS_PER_PAGE, after)
      yield page.map(read)
      if (page.length < ACCOUNTS_PER_PAGE) return
      after = page.at(-1)?.id ?? ''
    }
  }

  #firstFree(limit: number): MemoryAccount[] {
    const free = [...this.#pools].filter(([owner]) => !this.#isLiving(owner)).flatMap(([, pool]) => pool.first(limit))
    return free.sort((left, right) => (left.id < right.id ? -1 : 1)).slice(0, limit)
  }

  #isLiving(owner: string | null): boolean {
    return owner !== null && this.#instances.has(owner)
  }

  #remove(isDead: (id: string, instance: Instance) => boolean): string[] {
    const dead = [...this.#instances].filter(([id, instance]) => isDead(id, instance)).map(([id]) => id)
    for (const id of dead) this.#instances.delete(id)
    return dead
  }

  #own(account: MemoryAccount, owner: string): void {
    account.epoch += 1
    this.#move(account, owner)
  }

  #move(account: MemoryAccount, owner: string | null): void {
    this.#pool(account.owner).left()
    account.owner = owner
    account.moves += 1
    this.#pool(owner).add(account)
  }

  #pool(owner: string | null): OwnerPool {
    const pool = this.#pools.get(owner) ?? new OwnerPool()
    if (!this.#pools.has(owner)) this.#pools.set(owner, pool)
    return pool
  }
}

function read({ id, epoch, paused, watch, accessVersion, mailHost }: MemoryAccount): OwnedAccount {
  return { id, epoch, paused, watch, accessVersion, mailHost }
}
