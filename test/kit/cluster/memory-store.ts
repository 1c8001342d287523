import type {
  BeatState,
  OwnedAccount,
  OwnershipStore,
  RegisteredInstance,
} from '../../../src/accounts/cluster/index.ts'
import { OwnerPool } from './owner-pool.ts'

export interface MemoryAccount extends OwnedAccount {
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
  #ofRemoved = 0
  /** Undefined after a change. */
  #sortedIds: string[] | undefined

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
      owner: null,
      epoch: 0,
      paused: 0,
      watch: 1,
      accessVersion: 1,
      mailHost: 'imap.example.com:993',
      moves: 0,
    }
    this.#accounts.set(id, account)
    this.#pool(null).add(account)
  }

  /** The number of accounts whose owner was removed. */
  get ofRemoved(): number {
    return this.#ofRemoved
  }

  get free(): number {
    return this.withoutOwner + this.ofRemoved
  }

  get withoutOwner(): number {
    return this.#pool(null).size
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
    const ownedAccounts = this.#pool(id).size
    if (!this.#instances.has(id)) this.#ofRemoved -= ownedAccounts
    this.#sortedIds = undefined
    this.#instances.set(id, { heartbeatAtMs: this.#now(), syncTotals, lockKey, ownedAccounts })
  }

  async beat(id: string, state: BeatState): Promise<boolean> {
    const instance = this.#instances.get(id)
    if (instance === undefined) return false
    const ownedAccounts = state.ownedAccounts ?? instance.ownedAccounts
    this.#instances.set(id, { ...state, heartbeatAtMs: this.#now(), ownedAccounts })
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
    this.#delete(id)
  }

  async instances(): Promise<RegisteredInstance[]> {
    this.#sortedIds ??= [...this.#instances.keys()].sort()
    const nowMs = this.#now()
    return this.#sortedIds.flatMap((id) => {
      const instance = this.#instances.get(id)
      if (instance === undefined) return []
      const { lockKey, heartbeatAtMs, ownedAccounts = 0 } = instance
      return [{ id, lockKey, ownedAccounts, silentMs: nowMs - heartbeatAtMs }]
    })
  }

  async countOwned(ids: readonly string[]): Promise<Map<string, number>> {
    return new Map(ids.map((id) => [id, this.#pool(id).size]))
  }

  async shares(limit: number): Promise<{ owned: Map<string, number | null>; free: number }> {
    const owned = new Map([...this.#instances].map(([id, { ownedAccounts = 0 }]) => [id, ownedAccounts]))
    return { owned, free: owned.size === 0 ? 0 : Math.min(limit, this.free) }
  }

  async hasUnowned(): Promise<boolean> {
    return this.#pool(null).size > 0
  }

  async take(me: string, limit: number): Promise<number> {
    const free = this.#firstFree(limit)
    for (const account of free) this.#own(account, me)
    this.#addOwned(me, free.length)
    return free.length
  }

  async claim(me: string, accountId: string): Promise<OwnedAccount | undefined> {
    const account = this.#accounts.get(accountId)
    if (account === undefined) return undefined
    if (!this.#isLiving(account.owner) && this.#instances.has(me)) {
      this.#own(account, me)
      this.#addOwned(me, 1)
    }
    return account.owner === me ? read(account) : undefined
  }

  async giveBack(me: string, limit: number): Promise<void> {
    const newest = this.#pool(me).last(limit)
    for (const account of newest) this.#move(account, null)
    this.#addOwned(me, -newest.length)
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
    const free = this.#pool(null).first(limit)
    for (const pool of free.length < limit && this.#ofRemoved > 0 ? this.#removedPools() : [])
      free.push(...pool.first(limit - free.length))
    return free
  }

  /** In the order of their owners. */
  #removedPools(): OwnerPool[] {
    const removed: [string, OwnerPool][] = []
    for (const [owner, pool] of this.#pools) {
      if (owner !== null && pool.size > 0 && !this.#instances.has(owner)) removed.push([owner, pool])
    }
    return removed.sort(([left], [right]) => (left < right ? -1 : 1)).map(([, pool]) => pool)
  }

  async findMine(me: string, accountIds: readonly string[]): Promise<OwnedAccount[]> {
    const accounts = accountIds.flatMap((id) => this.#accounts.get(id) ?? [])
    return accounts.filter(({ owner }) => owner === me).map(read)
  }

  #addOwned(me: string, count: number): void {
    const instance = this.#instances.get(me)
    if (instance !== undefined) instance.ownedAccounts = (instance.ownedAccounts ?? 0) + count
  }

  #isLiving(owner: string | null): boolean {
    return owner !== null && this.#instances.has(owner)
  }

  #remove(isDead: (id: string, instance: Instance) => boolean): string[] {
    const dead = [...this.#instances].filter(([id, instance]) => isDead(id, instance)).map(([id]) => id)
    for (const id of dead) this.#delete(id)
    return dead
  }

  #delete(id: string): void {
    if (!this.#instances.delete(id)) return
    this.#ofRemoved += this.#pool(id).size
    this.#sortedIds = undefined
  }

  #own(account: MemoryAccount, owner: string): void {
    account.epoch += 1
    this.#move(account, owner)
  }

  #move(account: MemoryAccount, owner: string | null): void {
    this.#pool(account.owner).left()
    if (account.owner !== null && !this.#isLiving(account.owner)) this.#ofRemoved -= 1
    if (owner !== null && !this.#isLiving(owner)) this.#ofRemoved += 1
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
