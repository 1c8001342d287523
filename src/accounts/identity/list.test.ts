import { expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { readPlans } from '../../../test/kit/database/plans.ts'
import { insertRows } from '../../platform/db/index.ts'
import { type PageQuery, pageRequest } from '../../platform/formats/pagination.ts'
import type { AccountFilter } from './account.ts'
import { listAccounts } from './list.ts'

/** More than one step of the index on the file store. */
const ROWS = 12_000

describeEachDatabase('the list of accounts', (open) => {
  const buildRequest = (query: PageQuery) => pageRequest(query, [], ['text'])

  it('reads an index, whatever it is filtered by', async () => {
    const db = await open()
    const filters: AccountFilter[] = [{}, { q: 'ada' }, { status: 'error' }, { status: 'paused', provider: 'gmail' }]
    const { link } = testAccounts(db)
    await link({ customUserId: 'ada' })
    for (const filter of filters) {
      const plans = await readPlans(db, (tx) => listAccounts({ ...db, read: tx }, filter, buildRequest({})))
      for (const plan of plans) {
        expect(plan).toMatch(/USING (COVERING )?INDEX|Index (Only )?Scan/)
        expect(plan).not.toMatch(/SCAN "?accounts"?$|Seq Scan|TEMP B-TREE/m)
      }
      if (Object.keys(filter).length > 0)
        expect(plans[0]).toMatch(/USING COVERING INDEX accounts_list|using accounts_list/)
    }
    const [ofConnection] = await readPlans(db, (tx) =>
      listAccounts({ ...db, read: tx }, { connectionId: 'con_1' }, buildRequest({})),
    )
    expect(ofConnection).toContain('accounts_connectionId')
  })

  it('finds an account by its address and its alias in any case, as soon as they change', async () => {
    const db = await open()
    const { accounts, link } = testAccounts(db)
    const find = async (q: string) => (await accounts.list({ q })).items.length
    const { id } = await link({ ...imapUser('Ada'), customUserId: 'ÉMILE-7' })
    await link(imapUser('other'))
    expect(await Promise.all(['adA', 'émile', 'Émile-7', 'émilie'].map(find))).toEqual([1, 1, 1, 0])
    await db.transaction((tx) => accounts.change(tx, id, { customUserId: 'Ÿves' }))
    expect(await Promise.all(['ada', 'émile', 'ÿVES'].map(find))).toEqual([1, 0, 1])
    await link({ ...imapUser('Ada'), email: 'New-Address@example.com', customUserId: 'Ÿves' })
    expect(await Promise.all(['ada', 'new-address@example.com\nÿves'].map(find))).toEqual([0, 1])
  })

  it('finds and counts the same accounts on every page, in several steps', async () => {
    const db = await open()
    const { link } = testAccounts(db)
    await link(imapUser('first'))
    const first = await db.read.selectFrom('accounts').selectAll().executeTakeFirstOrThrow()
    const rows = Array.from({ length: ROWS }, (_, index) => ({
      ...first,
      id: `acc_${String(index).padStart(8, '0')}`,
      identity: `${index}`,
      status: 'connected' as const,
      email: `User${index}@example.com`,
      customUserId: index % 3000 === 0 ? 'Rare_Customer' : null,
      searchText: `user${index}@example.com\n${index % 3000 === 0 ? 'rare_customer' : ''}`,
      paused: index % 2,
      connectionId: index % 4000 === 0 ? 'con_1' : null,
    }))
    await db.transaction(async (tx) => {
      await tx.deleteFrom('accounts').execute()
      await insertRows(tx, 'accounts', rows)
    })
    const newest = rows.toReversed()
    const list = async (filter: AccountFilter, query: PageQuery) => {
      const request = buildRequest({ limit: 3, ...query })
      const { rows: shown, total } = await listAccounts(db, filter, request)
      return { ids: shown.map(({ id }) => id), ...total }
    }
    const idsOf = (some: typeof rows, from: number) => some.slice(from, from + 4).map(({ id }) => id)

    const rare = newest.filter(({ customUserId }) => customUserId !== null)
    expect(await list({ q: 'rare_cust' }, {})).toEqual({ ids: idsOf(rare, 0), count: 4, capped: false })
    expect(await list({ q: 'rare_cust' }, { page: 2 })).toEqual({ ids: idsOf(rare, 3), count: 4, capped: false })
    expect(await list({ q: 'rareXcust' }, {})).toEqual({ ids: [], count: 0, capped: false })
    const paused = newest.filter((row) => row.paused === 1)
    expect(await list({ status: 'paused' }, { page: 1990 })).toEqual({
      ids: idsOf(paused, 1989 * 3),
      count: 6000,
      capped: false,
    })
    expect(await list({ q: 'USER', status: 'connected' }, {})).toMatchObject({
      ids: idsOf(
        newest.filter((row) => row.paused === 0),
        0,
      ),
      count: 6000,
    })
    expect(await list({ q: 'user' }, { page: 3990 })).toEqual({
      ids: idsOf(newest, 3989 * 3),
      count: 10_000,
      capped: true,
    })
    expect(await list({ q: newest[7]?.id ?? '' }, {})).toEqual({ ids: [newest[7]?.id], count: 1, capped: false })
    const connected = newest.filter(({ connectionId }) => connectionId !== null)
    expect(await list({ connectionId: 'con_1' }, {})).toEqual({ ids: idsOf(connected, 0), count: 3, capped: false })
    expect(await list({ connectionId: 'con_1', status: 'paused' }, {})).toMatchObject({ ids: [], count: 0 })
    expect(await list({ connectionId: 'con_1', q: 'user4000@' }, {})).toMatchObject({ count: 1 })
    const after = paused[2499]?.id ?? ''
    const { rows: shown, total } = await listAccounts(
      db,
      { status: 'paused' },
      { ...buildRequest({ limit: 3 }), offset: 0, after: [after] },
    )
    expect([shown.map(({ id }) => id), total.count]).toEqual([idsOf(paused, 2500), 6000])
  })
})
