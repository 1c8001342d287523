import { afterEach, expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { readPlans } from '../../../test/kit/database/plans.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { type Bus, memoryBus } from '../../platform/bus/index.ts'
import { sleep } from '../../platform/concurrency/abort.ts'
import type { Db } from '../../platform/db/index.ts'
import { silentLog } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { ACCOUNTS_TOPIC, type Ownership, type OwnershipChange, OwnershipLost } from '../index.ts'
import { fence, type OwnershipTiming, ownership, sharedFence } from './index.ts'
import { instanceStore } from './instance-store.ts'

const HOUR = 3_600_000

describeEachDatabase('ownership', (open) => {
  const running: Ownership[] = []
  afterEach(async () => {
    await Promise.all(running.splice(0).map((instance) => instance.stop()))
  })

  /** An instance that expects others, on both engines; by default it runs a round every 50 ms. */
  function instance(db: Db, bus: Bus, instanceId: string, timing: Partial<OwnershipTiming> = {}) {
    const dead: string[] = []
    const changes: OwnershipChange[] = []
    const owner = ownership({
      db,
      bus,
      clock: systemClock,
      log: silentLog,
      instanceId,
      onInstanceDead: async (id) => void dead.push(id),
      timing: { roundMs: 50, deadAfterMs: HOUR, hintGapMs: 5, soleProcess: false, ...timing },
    })
    owner.onChange((change) => changes.push(change))
    running.push(owner)
    return Object.assign(owner, { dead, changes, count: () => owner.owned().size })
  }

  async function linked(count: number) {
    const db = await open()
    const fixture = testAccounts(db)
    const ids: string[] = []
    for (let i = 0; i < count; i += 1) ids.push((await fixture.link(imapUser(`user-${i}`))).id)
    return { db, fixture, bus: fixture.bus, ids }
  }

  async function linkedTo(
    fixture: { link: ReturnType<typeof testAccounts>['link'] },
    count: number,
  ): Promise<string[]> {
    const users = Array.from({ length: count }, (_, index) => fixture.link(imapUser(`later-${index}`)))
    return (await Promise.all(users)).map(({ id }) => id)
  }

  async function readEpoch(db: Db, id: string): Promise<number> {
    const { epoch } = await db.read
      .selectFrom('accounts')
      .select('epoch')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return epoch
  }

  it('takes a claimed account at once, and keeps it in the rounds that follow', async () => {
    const { db, fixture, bus } = await linked(1)
    const a = instance(db, bus, 'a', { roundMs: HOUR, hintGapMs: HOUR })
    await a.start()
    const { id } = await fixture.link(imapUser('claimed'))
    await a.claim(id)
    expect(a.owned().get(id)).toBe(1)
    expect(a.changes.at(-1)).toEqual({ lost: [], gained: [id], changed: [] })
    await a.claim(id)
    expect(a.owned().get(id)).toBe(1)
    const [rounds, claims] = [instance(db, bus, 'b', { roundMs: 1 }), await linkedTo(fixture, 20)]
    await rounds.start()
    await Promise.all(claims.map((claimed) => rounds.claim(claimed)))
    await eventually(() => rounds.count() + a.count() === 22)
    expect(rounds.changes.flatMap(({ lost }) => lost.filter((id) => rounds.owned().has(id)))).toEqual([])
  })

  it('does not take a claimed account from a living instance, nor before it is registered, nor after it stopped', async () => {
    const { db, fixture, bus } = await linked(0)
    const [a, b] = [
      instance(db, bus, 'a', { roundMs: HOUR, hintGapMs: HOUR }),
      instance(db, bus, 'b', { roundMs: HOUR, hintGapMs: HOUR }),
    ]
    const { id } = await fixture.link(imapUser('claimed'))
    await a.claim(id)
    expect(await readEpoch(db, id)).toBe(0)
    await b.start()
    expect(b.owned().get(id)).toBe(1)
    await a.start()
    await a.claim(id)
    expect([a.owned().has(id), await readEpoch(db, id)]).toEqual([false, 1])
    await b.stop()
    await b.claim(id)
    expect(await readEpoch(db, id)).toBe(1)
    await a.claim(id)
    expect(a.owned().get(id)).toBe(2)
  })

  it('owns every account as the only instance, each under a new epoch', async () => {
    const { db, bus, ids } = await linked(5)
    const a = instance(db, bus, 'a')
    await a.start()
    expect([...a.owned().keys()].sort()).toEqual(ids)
    expect(new Set(a.owned().values())).toEqual(new Set([1]))
    expect(a.changes).toEqual([{ lost: [], gained: expect.arrayContaining(ids), changed: [] }])
  })

  it('takes a new account at once, reports a changed one, and loses a deleted one', async () => {
    const { db, fixture, bus } = await linked(0)
    const a = instance(db, bus, 'a', { roundMs: HOUR })
    await a.start()
    const { id } = await fixture.link()
    await eventually(() => expect(a.owned().get(id)).toBe(1))
    await db.transaction((tx) => fixture.accounts.change(tx, id, { paused: true }))
    await eventually(() => expect(a.changes.at(-1)).toEqual({ lost: [], gained: [], changed: [id] }))
    const reported = a.changes.length
    await fixture.link()
    await eventually(() => expect(a.changes.length).toBe(reported + 1))
    await db.transaction((tx) => fixture.accounts.setStatus(tx, id, 'connected', null))
    await db.transaction((tx) => fixture.accounts.remove(tx, id))
    await eventually(() => expect(a.count()).toBe(0))
    expect(a.changes.slice(reported)).toEqual([
      { lost: [], gained: [], changed: [id] },
      { lost: [id], gained: [], changed: [] },
    ])
  })

  const write = (db: Db, id: string, values: { paused?: number; ownerInstance?: null }) =>
    db.transaction((tx) => tx.updateTable('accounts').set(values).where('id', '=', id).execute())

  it('reads the owned accounts only after a hint, and takes a free account without one', async () => {
    const { db, bus, ids } = await linked(3)
    const [changed = '', freed = ''] = ids
    const a = instance(db, bus, 'a', { fullRoundMs: HOUR })
    await a.start()
    await write(db, changed, { paused: 1 })
    const beats = () => db.read.selectFrom('instances').select('heartbeatAt').executeTakeFirstOrThrow()
    for (let rounds = 0; rounds < 3; rounds += 1) {
      const before = await beats()
      await eventually(async () => expect(await beats()).not.toEqual(before))
    }
    expect(a.changes).toHaveLength(1)
    await write(db, freed, { ownerInstance: null })
    await eventually(() => expect(a.changes).toHaveLength(2))
    expect(a.changes[1]).toEqual({ lost: [freed], gained: [freed], changed: [changed] })
  })

  it('finds a change whose hint was lost by its next full round', async () => {
    const { db, bus, ids } = await linked(1)
    const a = instance(db, bus, 'a', { fullRoundMs: 100 })
    await a.start()
    await write(db, ids[0] ?? '', { paused: 1 })
    await eventually(() => expect(a.changes.at(-1)).toEqual({ lost: [], gained: [], changed: ids }))
  })

  it('finds a free account by an index', async () => {
    const db = await open()
    const [plan = ''] = await readPlans(db, (tx) => instanceStore(tx, db.dialect).hasUnowned())
    expect(plan).toMatch(/accounts_ownerInstance/)
  })

  it('counts and takes free accounts by an index of owners', async () => {
    const { db, ids } = await linked(2)
    await db.transaction((tx) =>
      tx
        .updateTable('accounts')
        .set({ ownerInstance: 'gone' })
        .where('id', '=', ids[0] ?? '')
        .execute(),
    )
    const plans = await readPlans(db, async (tx) => {
      const store = instanceStore(tx, db.dialect)
      await store.register('a', null)
      expect(await store.shares(200)).toEqual({ owned: new Map([['a', 0]]), free: 2 })
      expect(await store.take('a', 200)).toBe(2)
    })
    const selects = plans.filter((plan) => /^\s*(with recursive|select).* from "accounts"/is.test(plan))
    expect(selects).toHaveLength(4)
    for (const plan of selects) {
      expect(plan).toMatch(/accounts_ownerInstance/)
      expect(plan).not.toMatch(/TEMP B-TREE|Sort/)
    }
  })

  it('takes 200 accounts before its start ends, then the others, and reads them in pages, in the order of an index', async () => {
    const { db, bus, ids } = await linked(1)
    const copies = Array.from({ length: 2500 }, (_, n) => `acc_z${String(n).padStart(4, '0')}`)
    await db.transaction(async (tx) => {
      const account = await tx.selectFrom('accounts').selectAll().executeTakeFirstOrThrow()
      for (let start = 0; start < copies.length; start += 100) {
        const rows = copies.slice(start, start + 100).map((id) => ({ ...account, id, identity: id }))
        await tx.insertInto('accounts').values(rows).execute()
      }
    })
    const a = instance(db, bus, 'a', { roundMs: HOUR })
    await a.start()
    expect(a.count()).toBe(200)
    await eventually(() => expect([...a.owned().keys()]).toEqual([...ids, ...copies]))
    const [plan = ''] = await readPlans(db, (tx) => instanceStore(tx, db.dialect).mine('a').next())
    expect(plan).toMatch(/accounts_ownerInstance_id/)
    expect(plan).not.toMatch(/TEMP B-TREE|Sort/)
  })

  it('moves a fair share to instances that join, a few accounts per round, and then nothing more', async () => {
    const { db, bus, ids } = await linked(12)
    const [a, b, c] = ['a', 'b', 'c'].map((name) => instance(db, bus, name, { movesPerRound: 2 }))
    if (a === undefined || b === undefined || c === undefined) throw new Error('three instances')
    await a.start()
    await b.start()
    await eventually(() => expect([a.count(), b.count()]).toEqual([6, 6]))
    for (const { lost } of a.changes) expect(lost.length).toBeLessThanOrEqual(2)
    await c.start()
    await eventually(() => expect([a.count(), b.count(), c.count()]).toEqual([4, 4, 4]))
    const owners = [a, b, c].flatMap((owner) => [...owner.owned().keys()])
    expect(owners.sort()).toEqual(ids)
    const moves = () => [a, b, c].reduce((sum, owner) => sum + owner.changes.length, 0)
    const movesBefore = moves()
    const beats = async () =>
      (await db.read.selectFrom('instances').select('heartbeatAt').execute()).map((row) => row.heartbeatAt)
    const before = Math.max(...(await beats()))
    await eventually(async () => expect(Math.min(...(await beats()))).toBeGreaterThan(before))
    expect(moves()).toBe(movesBefore)
  })

  it('releases all accounts at once when it stops', async () => {
    const { db, bus, ids } = await linked(6)
    const a = instance(db, bus, 'a')
    const b = instance(db, bus, 'b')
    await a.start()
    await b.start()
    await eventually(() => expect([a.count(), b.count()]).toEqual([3, 3]))
    const waiting = instance(db, bus, 'waiting', { roundMs: HOUR })
    await b.stop()
    await b.stop()
    expect(b.count()).toBe(0)
    expect(b.changes.at(-1)?.lost).toHaveLength(3)
    await eventually(() => expect([...a.owned().keys()].sort()).toEqual(ids))
    expect(a.dead).toEqual([])
    await waiting.start()
    await a.stop()
    await eventually(() => expect(waiting.count()).toBe(6))
  })

  it('takes over the accounts of a silent instance, which registers again when it returns', async () => {
    const { db, bus, ids } = await linked(4)
    const silentBus = memoryBus({ log: silentLog })
    const silent = instance(db, silentBus, 'silent', { roundMs: HOUR })
    await silent.start()
    const epochs = new Map(silent.owned())
    const b = instance(db, bus, 'b', { deadAfterMs: 2000, settleMs: 0 })
    await b.start()
    await eventually(() => expect(b.count()).toBe(4))
    expect(b.dead).toEqual(['silent'])
    for (const id of ids) {
      expect(b.owned().get(id)).toBe(2)
      const late = db.transaction((tx) => fence(tx, id, epochs.get(id) ?? 0))
      await expect(late).rejects.toBeInstanceOf(OwnershipLost)
    }
    // `silent` does not know yet. Its next round finds out, whatever triggers it.
    expect(silent.count()).toBe(4)
    await b.stop()
    silent.changes.length = 0
    silentBus.publish(ACCOUNTS_TOPIC)
    await eventually(() => expect(silent.changes).toHaveLength(2))
    const [first, second] = silent.changes.map(({ lost, gained }) => ({ lost: lost.sort(), gained: gained.sort() }))
    expect(first).toEqual({ lost: ids, gained: [] })
    expect(second).toEqual({ lost: [], gained: ids })
    expect(new Set(silent.owned().values())).toEqual(new Set([3]))
  })

  it('lets transactions with the shared fence run at once, and a take-over wait for them', async () => {
    const { db, ids } = await linked(1)
    const [id = ''] = ids
    const { epoch } = await db.read
      .selectFrom('accounts')
      .select('epoch')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const log: string[] = []
    // The file store has one writer.
    const atOnce = db.engine === 'postgres' ? 2 : 1
    const store = () =>
      db.transaction(async (tx) => {
        await sharedFence(tx, id, epoch)
        log.push('fenced')
        await eventually(() => expect(log.length).toBeGreaterThanOrEqual(atOnce))
        await sleep(50)
        log.push('stored')
      })
    const stores = [store(), store()]
    await eventually(() => expect(log.length).toBeGreaterThanOrEqual(atOnce))
    const takeOver = db.transaction(async (tx) => {
      await tx
        .updateTable('accounts')
        .set({ epoch: epoch + 1 })
        .where('id', '=', id)
        .execute()
      log.push('taken over')
    })
    await Promise.all([...stores, takeOver])
    expect(log.at(-1)).toBe('taken over')
    expect(log).toHaveLength(5)
    const late = db.transaction((tx) => sharedFence(tx, id, epoch))
    await expect(late).rejects.toBeInstanceOf(OwnershipLost)
  })

  it('takes every account at the start as the sole process', async () => {
    const { db, bus, ids } = await linked(3)
    const killed = instance(db, bus, 'killed', { roundMs: HOUR })
    await killed.start()
    const next = instance(db, bus, 'next', { soleProcess: true })
    await next.start()
    expect(next.dead).toEqual(['killed'])
    expect([...next.owned()].sort()).toEqual(ids.map((id) => [id, 2]))
  })

  it('gives up its accounts after too long without the database', async () => {
    const { db, bus } = await linked(2)
    const a = instance(db, bus, 'a', { deadAfterMs: 300 })
    await a.start()
    expect(a.count()).toBe(2)
    await db.close()
    await eventually(() => expect(a.changes.at(-1)?.lost).toHaveLength(2))
    expect(a.count()).toBe(0)
  })

  it('waits at a takeover for the transaction of the former owner, and only for that account', async () => {
    const { db, bus, ids } = await linked(3)
    const former = instance(db, bus, 'former', { roundMs: HOUR })
    await former.start()
    const [held = '', ...others] = ids
    let commit = () => {}
    let began = () => {}
    const inside = new Promise<void>((resolve) => {
      began = resolve
    })
    const running = db.transaction(async (tx) => {
      await fence(tx, held, 1)
      began()
      await new Promise<void>((resolve) => {
        commit = resolve
      })
      await tx.updateTable('accounts').set({ statusReason: 'the last word' }).where('id', '=', held).execute()
    })
    await inside
    const next = instance(db, bus, 'next', { deadAfterMs: 2000, settleMs: 0 })
    const started = next.start()
    // The file store has one writer: there everything waits for the open transaction.
    if (db.engine === 'postgres') {
      await eventually(() => expect([...next.owned().keys()].sort()).toEqual(others))
      expect(await readEpoch(db, held)).toBe(1)
    }
    commit()
    await running
    await started
    await eventually(() => expect(next.owned().get(held)).toBe(2))
    const row = await db.read.selectFrom('accounts').select('statusReason').where('id', '=', held).executeTakeFirst()
    expect(row?.statusReason).toBe('the last word')
    await expect(db.transaction((tx) => fence(tx, held, 1))).rejects.toBeInstanceOf(OwnershipLost)
  })
})
