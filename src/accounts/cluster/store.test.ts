import { describe, expect, it } from 'vitest'
import { testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { MemoryStore } from '../../../test/kit/cluster/memory-store.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { random } from '../../../test/kit/random/random.ts'
import type { Db } from '../../platform/db/index.ts'
import { databaseStore, type OwnershipStore } from './index.ts'

/** A store, and what a test reads and changes beside it. */
interface StoreFixture {
  store: OwnershipStore
  owner(accountId: string): Promise<{ owner: string | null; epoch: number }>
  /** The instance wrote its last heartbeat so much earlier. */
  silence(instanceId: string, ms: number): Promise<void>
}

const idOf = (index: number) => `acc_${String(index).padStart(5, '0')}`
const NO_STATE = { syncTotals: null, lockKey: null }

function inMemory(accounts: number): StoreFixture {
  const store = new MemoryStore(() => Date.now())
  for (let index = 0; index < accounts; index += 1) store.addAccount(idOf(index))
  return {
    store,
    async owner(accountId) {
      const { owner = null, epoch = -1 } = store.account(accountId) ?? {}
      return { owner, epoch }
    },
    silence: async (instanceId, ms) => store.silence(instanceId, ms),
  }
}

async function inDatabase(db: Db, accounts: number): Promise<StoreFixture> {
  await insertAccounts(db, accounts)
  return {
    store: databaseStore(db),
    async owner(accountId) {
      const row = await db.read
        .selectFrom('accounts')
        .select(['ownerInstance', 'epoch'])
        .where('id', '=', accountId)
        .executeTakeFirstOrThrow()
      return { owner: row.ownerInstance, epoch: row.epoch }
    },
    async silence(instanceId, ms) {
      await db.transaction((tx) =>
        tx
          .updateTable('instances')
          .set((eb) => ({ heartbeatAt: eb('heartbeatAt', '-', ms) }))
          .where('id', '=', instanceId)
          .execute(),
      )
    },
  }
}

/** Copies of one linked account. */
async function insertAccounts(db: Db, accounts: number): Promise<void> {
  await testAccounts(db).link()
  await db.transaction(async (tx) => {
    const account = await tx.selectFrom('accounts').selectAll().executeTakeFirstOrThrow()
    await tx.deleteFrom('accounts').execute()
    for (let start = 0; start < accounts; start += 100) {
      const ids = Array.from({ length: Math.min(100, accounts - start) }, (_, index) => idOf(start + index))
      const rows = ids.map((id) => ({ ...account, id, identity: id }))
      await tx.insertInto('accounts').values(rows).execute()
    }
  })
}

describe('the store of ownership (memory)', () => conforms(async (accounts) => inMemory(accounts)))
describeEachDatabase('the store of ownership', (open) => {
  conforms(async (accounts) => inDatabase(await open(), accounts))
  doesTheSame(async (accounts) => inDatabase(await open(), accounts))
})

function conforms(open: (accounts: number) => Promise<StoreFixture>): void {
  it('lists registered instances in the order of their ids, with the locks of their last heartbeats', async () => {
    const { store } = await open(0)
    await store.register('b', 'lock-b')
    await store.register('a', null)
    expect(await locksOf(store)).toEqual([
      ['a', null],
      ['b', 'lock-b'],
    ])
    expect(await store.beat('b', NO_STATE)).toBe(true)
    await store.register('a', 'lock-a')
    expect(await locksOf(store)).toEqual([
      ['a', 'lock-a'],
      ['b', null],
    ])
    await store.unregister('a')
    expect(await store.beat('a', NO_STATE)).toBe(false)
    expect(await locksOf(store)).toEqual([['b', null]])
  })

  it('removes silent instances, all others, or those that claim their lock', async () => {
    const { store, silence } = await open(0)
    for (const id of ['a', 'b', 'c', 'd']) await store.register(id, id === 'd' ? null : `lock-${id}`)
    await silence('a', 60_000)
    await silence('b', 60_000)
    expect(await store.removeDead('a', 30_000)).toEqual(['b'])
    expect((await store.removeWithoutLock(['c', 'd', 'gone'])).sort()).toEqual(['c'])
    expect(await store.removeDead('a', 'all')).toEqual(['d'])
    expect(await locksOf(store)).toEqual([['a', 'lock-a']])
  })

  it('knows how long an instance is silent', async () => {
    const { store, silence } = await open(0)
    await store.register('a', null)
    const silentMs = async () => (await store.instances())[0]?.silentMs
    expect(await silentMs()).toBeLessThan(60_000)
    await silence('a', 60_000)
    expect(await silentMs()).toBeGreaterThanOrEqual(60_000)
    await store.beat('a', NO_STATE)
    expect(await silentMs()).toBeLessThan(60_000)
  })

  it('counts what an instance owns with every move, and as its heartbeat says', async () => {
    const { store } = await open(10)
    const ownedAccounts = async () => (await store.instances()).map(({ ownedAccounts }) => ownedAccounts)
    await store.register('a', null)
    await store.take('a', 5)
    await store.claim('a', idOf(9))
    await store.claim('a', idOf(9))
    expect(await ownedAccounts()).toEqual([6])
    await store.giveBack('a', 2)
    await store.beat('a', NO_STATE)
    expect(await ownedAccounts()).toEqual([4])
    await store.beat('a', { ...NO_STATE, ownedAccounts: 3 })
    expect(await ownedAccounts()).toEqual([3])
    await store.unregister('a')
    await store.register('a', null)
    expect(await ownedAccounts()).toEqual([4])
    expect(await store.countOwned(['a', 'b'])).toEqual(
      new Map([
        ['a', 4],
        ['b', 0],
      ]),
    )
  })

  it('takes free accounts in the order of their ids, each under its next epoch', async () => {
    const { store, owner } = await open(5)
    await store.register('a', null)
    await store.register('b', null)
    expect(await store.take('a', 3)).toBe(3)
    expect((await store.shares(100)).free).toBe(2)
    expect(await store.take('b', 3)).toBe(2)
    expect(await store.take('b', 3)).toBe(0)
    expect([await owner(idOf(2)), await owner(idOf(3))]).toEqual([
      { owner: 'a', epoch: 1 },
      { owner: 'b', epoch: 1 },
    ])
  })

  it('counts the accounts of a removed instance as free, and takes them', async () => {
    const { store, owner } = await open(4)
    await store.register('a', null)
    await store.register('b', null)
    await store.take('b', 3)
    await store.unregister('b')
    expect(await store.hasUnowned()).toBe(true)
    for (const limit of [100, 4, 2, 1]) {
      expect(await store.shares(limit)).toEqual({ owned: new Map([['a', 0]]), free: Math.min(4, limit) })
    }
    expect(await store.take('a', 10)).toBe(4)
    expect([await owner(idOf(0)), await owner(idOf(3))]).toEqual([
      { owner: 'a', epoch: 2 },
      { owner: 'a', epoch: 1 },
    ])
    expect(await store.hasUnowned()).toBe(false)
  })

  it('claims an account that is free, and returns one that it owns', async () => {
    const { store, owner } = await open(2)
    expect(await store.claim('a', idOf(0))).toBeUndefined()
    await store.register('a', null)
    await store.register('b', null)
    expect(await store.claim('a', idOf(0))).toMatchObject({ id: idOf(0), epoch: 1 })
    expect(await store.claim('a', idOf(0))).toMatchObject({ id: idOf(0), epoch: 1 })
    expect(await store.claim('b', idOf(0))).toBeUndefined()
    await store.unregister('a')
    expect(await store.claim('b', idOf(0))).toMatchObject({ id: idOf(0), epoch: 2 })
    expect(await store.claim('b', 'acc_missing')).toBeUndefined()
    expect(await owner(idOf(0))).toEqual({ owner: 'b', epoch: 2 })
  })

  it('gives back the newest accounts, which another instance takes under the next epoch', async () => {
    const { store, owner } = await open(4)
    await store.register('a', null)
    await store.take('a', 4)
    await store.giveBack('a', 2)
    expect(await store.hasUnowned()).toBe(true)
    expect([await owner(idOf(1)), await owner(idOf(2))]).toEqual([
      { owner: 'a', epoch: 1 },
      { owner: null, epoch: 1 },
    ])
    await store.register('b', null)
    expect(await store.take('b', 5)).toBe(2)
    expect(await owner(idOf(3))).toEqual({ owner: 'b', epoch: 2 })
    await store.giveBack('a', 10)
    expect((await store.shares(100)).free).toBe(2)
  })

  it('finds those of some accounts that an instance owns', async () => {
    const { store } = await open(3)
    await store.register('a', null)
    await store.take('a', 2)
    const found = await store.findMine('a', [idOf(1), idOf(2), 'acc_missing'])
    expect(found).toMatchObject([{ id: idOf(1), epoch: 1 }])
    expect(await store.findMine('a', [])).toEqual([])
  })

  it('reads the accounts of an instance in pages, in the order of their ids', async () => {
    const { store } = await open(1201)
    await store.register('a', null)
    await store.take('a', 1200)
    const pages = await pagesOf(store, 'a')
    expect(pages.map((page) => page.length)).toEqual([500, 500, 200])
    expect(pages.flat().map(({ id }) => id)).toEqual(Array.from({ length: 1200 }, (_, index) => idOf(index)))
  })
}

/** The same random calls return the same, and leave the same owners, as in memory. */
function doesTheSame(open: (accounts: number) => Promise<StoreFixture>): void {
  it('does the same as the store of the simulation', async () => {
    const next = random()
    const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
    const accounts = 60
    const [database, memory] = [await open(accounts), inMemory(accounts)]
    const instances = ['a', 'b', 'c', 'd']
    for (let step = 0; step < 200; step += 1) {
      const id = instances[integer(0, 3)] ?? ''
      const [limit, account] = [integer(1, 25), idOf(integer(0, accounts - 1))]
      const calls: ((fixture: StoreFixture) => Promise<unknown>)[] = [
        ({ store }) => store.register(id, 'lock'),
        ({ store }) => store.beat(id, NO_STATE),
        ({ store }) => store.unregister(id),
        ({ store }) => store.removeWithoutLock([id]),
        ({ store }) => store.take(id, limit),
        ({ store }) => store.take(id, limit),
        ({ store }) => store.claim(id, account),
        ({ store }) => store.giveBack(id, limit),
        ({ store }) => store.hasUnowned(),
        ({ store }) => store.countOwned(instances),
        ({ store }) => pagesOf(store, id),
      ]
      const call = calls[integer(0, calls.length - 1)]
      if (call === undefined) throw new Error('no call')
      expect(await call(database)).toEqual(await call(memory))
      expect(await database.store.shares(30)).toEqual(await memory.store.shares(30))
    }
    for (let index = 0; index < accounts; index += 1) {
      expect(await database.owner(idOf(index))).toEqual(await memory.owner(idOf(index)))
    }
  })
}

async function pagesOf(store: OwnershipStore, id: string) {
  const pages: { id: string; epoch: number }[][] = []
  for await (const page of store.mine(id)) pages.push(page.map(({ id, epoch }) => ({ id, epoch })))
  return pages
}

async function locksOf(store: OwnershipStore) {
  return (await store.instances()).map(({ id, lockKey }) => [id, lockKey])
}
