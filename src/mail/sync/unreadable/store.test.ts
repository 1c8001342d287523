import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { recordStatements } from '../../../../test/kit/database/recorded-statements.ts'
import { countFailures, planAttempts, unreadableStore } from './store.ts'

const plan = (nowMs: number) => ({ nowMs, backoff: { baseMs: 1000, capMs: 60_000 } })
const failed = (count: number, reason: string) =>
  Array.from({ length: count }, (_, n) => ({ itemId: `m${n}`, reason, known: '{"unread":true}', newSince: 5 }))

describeEachDatabase('the failures of many messages', (open) => {
  it('are counted in a few statements, and keep what was decided before', async () => {
    const db = await open()
    const statements = await db.transaction((tx) =>
      recordStatements(tx, (inside) => countFailures(inside, 'acc_a', 'message', failed(300, 'one'), plan(10))),
    )
    expect(statements.length).toBeLessThanOrEqual(6)
    await db.transaction((tx) => unreadableStore(tx, 'acc_a').update('message', 'm0', { isStored: 1, newSince: null }))
    const again = [{ itemId: 'm0', reason: 'two' }, ...failed(2, 'two').slice(1), { itemId: 'm1', reason: 'two' }]
    const counted = await db.transaction((tx) => countFailures(tx, 'acc_a', 'message', again, plan(20)))
    expect(counted).toMatchObject([
      { itemId: 'm0', failures: 2, reason: 'two', known: '{"unread":true}', newSince: null, isStored: 1, failedAt: 10 },
      { itemId: 'm1', failures: 2, reason: 'two', newSince: 5, isStored: 0 },
    ])
    const stored = await unreadableStore(db.read, 'acc_a').byIds('message', ['m0', 'm1', 'm2', 'none'])
    expect([...stored.values()].map(({ failures }) => failures).sort()).toEqual([1, 2, 2])
    expect(stored.get('m1')).toEqual(counted[1])
  })

  it('plan the next attempts together, without those that were forgotten meanwhile', async () => {
    const db = await open()
    await db.transaction((tx) => countFailures(tx, 'acc_a', 'message', failed(60, 'one'), plan(10)))
    await db.transaction((tx) => unreadableStore(tx, 'acc_a').remove('message', ['m1']))
    const ids = failed(60, '').map(({ itemId }) => itemId)
    const statements = await db.transaction((tx) =>
      recordStatements(tx, (inside) => planAttempts(inside, 'acc_a', 'message', ids, plan(100_000))),
    )
    expect(statements).toHaveLength(2)
    const rows = await unreadableStore(db.read, 'acc_a').all('message')
    expect(rows).toHaveLength(59)
    expect(rows.every(({ nextAttemptAt, failures }) => nextAttemptAt > 100_000 && failures === 1)).toBe(true)
  })
})
