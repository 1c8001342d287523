import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { fixedClock } from '../../platform/time/clock.ts'
import { draftsFeature } from './feature.ts'
import { withDraftLock } from './store.ts'

const NOW = Date.UTC(2026, 10, 28)
const HELD_MS = 90_000
const HOUR_MS = 60 * 60 * 1000

describeEachDatabase('the locks of drafts', (open) => {
  it('are deleted an hour after a crashed request held them, and kept while a request runs', async () => {
    const db = await open()
    const clock = fixedClock(NOW)
    const crashed = { messageId: 'msg_crashed', accountId: 'acc_1', holder: 'crashed', heldUntil: NOW + HELD_MS }
    await db.transaction((tx) => tx.insertInto('draftLocks').values(crashed).execute())
    const purged = async () => {
      for (const { purge, keptFor } of draftsFeature.purge) {
        for (let rows = -1; rows !== 0; ) rows = await db.transaction((tx) => purge(tx, clock.now() - keptFor, 1))
      }
      return db.read.selectFrom('draftLocks').select('messageId').execute()
    }
    clock.advance(HELD_MS + HOUR_MS - 1)
    expect(await purged()).toEqual([{ messageId: 'msg_crashed' }])
    clock.advance(2)
    const locked = await withDraftLock({ db, clock }, { messageId: 'msg_edited', accountId: 'acc_1' }, purged)
    expect(locked).toEqual([{ messageId: 'msg_edited' }])
  })
})
