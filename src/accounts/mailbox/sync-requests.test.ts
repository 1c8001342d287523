import { expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { readPlans } from '../../../test/kit/database/plans.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import type { Db } from '../../platform/db/index.ts'
import { accountQueries } from '../identity/queries.ts'
import { readSyncHint, SYNC_TOPIC } from './sync-requests.ts'

const ME = 'ins_me'

describeEachDatabase('a requested sync', (open) => {
  async function owned(count: number) {
    const db = await open()
    const fixture = testAccounts(db)
    const ids: string[] = []
    for (let n = 0; n < count; n += 1) ids.push((await fixture.link(imapUser(`user-${n}`))).id)
    await db.transaction((tx) => tx.updateTable('accounts').set({ ownerInstance: ME }).execute())
    const request = (accountIds: readonly string[]) =>
      db.transaction((tx) => fixture.accounts.requestSync(tx, accountIds, 'changes'))
    const clear = (id: string, requestedAt: number) =>
      db.transaction((tx) => fixture.accounts.clearSyncRequest(tx, id, requestedAt))
    return { db, bus: fixture.bus, ids, request, clear }
  }
  const requestedAt = async (db: Db, id: string) => (await accountQueries(db.read).requestedSyncs(ME)).get(id) ?? 0

  it('is cleared only by a run that started after it', async () => {
    const { db, ids, request, clear } = await owned(1)
    const [id = ''] = ids
    await request([id])
    const first = await requestedAt(db, id)
    await request([id])
    const second = await requestedAt(db, id)
    expect(second).toBeGreaterThan(first)
    await clear(id, first)
    expect(await requestedAt(db, id)).toBe(second)
    await clear(id, second)
    expect(await accountQueries(db.read).requestedSyncs(ME)).toEqual(new Map())
  })

  it('gets a later time than the previous request, even if that is ahead of the clock', async () => {
    const { db, ids, request } = await owned(1)
    const [id = ''] = ids
    const ahead = Date.now() + 3_600_000
    await db.transaction((tx) => tx.updateTable('accounts').set({ syncRequestedAt: ahead }).execute())
    await request([id])
    expect(await requestedAt(db, id)).toBe(ahead + 1)
  })

  it('is published after the commit, in hints within the size limit of the bus', async () => {
    const { db, bus, ids, request } = await owned(3)
    const hinted: string[] = []
    bus.subscribe(SYNC_TOPIC, (payload = '') => hinted.push(...readSyncHint(payload).accountIds))
    const unknown = Array.from({ length: 250 }, (_, n) => `acc_${String(n).padStart(26, '0')}`)
    await request([...ids, ...unknown])
    await eventually(() => expect(hinted).toEqual([...ids, ...unknown]))
    expect([...(await accountQueries(db.read).requestedSyncs(ME)).keys()].sort()).toEqual([...ids].sort())
  })

  it('is found by an index that contains only requests', async () => {
    const { db } = await owned(1)
    const plans = await readPlans(db, (tx) => accountQueries(tx).requestedSyncs(ME))
    expect(plans.join('\n')).toContain('accounts_syncRequestedAt')
  })
})
