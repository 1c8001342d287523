import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { cursorStore, eraseSync, syncStateStore } from './store.ts'

describeEachDatabase('the sync state of a deleted account', (open) => {
  it('is erased in steps of the limit, without that of other accounts', async () => {
    const db = await open()
    await db.transaction(async (tx) => {
      for (const accountId of ['acc_a', 'acc_b']) {
        for (const labelId of ['lbl_1', 'lbl_2', 'lbl_3']) {
          await cursorStore(tx).save(accountId, `${labelId}${accountId}`, { cursor: 'x' })
        }
        const run = { attempts: 0, lastRunAt: null, nextRunAt: null, lastError: null, limitViolations: 0 }
        await syncStateStore(tx).save({ accountId, ...run })
      }
    })
    const erase = () => db.transaction((tx) => eraseSync(tx, 'acc_a', 2))
    expect([await erase(), await erase(), await erase()]).toEqual([3, 1, 0])
    expect((await cursorStore(db.read).all('acc_a')).size).toBe(0)
    expect(await syncStateStore(db.read).find('acc_a')).toBeUndefined()
    expect((await cursorStore(db.read).all('acc_b')).size).toBe(3)
    expect(await syncStateStore(db.read).find('acc_b')).toBeDefined()
  })
})
