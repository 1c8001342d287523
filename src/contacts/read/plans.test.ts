import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { readPlans } from '../../../test/kit/database/plans.ts'
import type { PageRequest } from '../../platform/formats/pagination.ts'
import { listPeople } from '../people/list.ts'
import { bookStore, contactStore, type GroupRow } from '../store.ts'
import { type ContactFilter, type ContactPosition, listContacts } from './list.ts'

const TABLES = 'contacts|contactKeys|contactGroups|contactGroupMembers|contactBooks|correspondents'
const FULL_SCAN = new RegExp(String.raw`SCAN (${TABLES})\b|Seq Scan on "?(${TABLES})\b`)
const SORTED = /TEMP B-TREE FOR ORDER BY|^\s*(->\s*)?Sort {2}/m
const ACCOUNT = 'acc_1'
const GROUP: GroupRow = {
  id: 'cgr_1',
  accountId: ACCOUNT,
  bookId: null,
  providerId: 'Work',
  kind: 'category',
  name: 'Work',
  isWritable: 0,
  createdAt: 1,
  updatedAt: 1,
}

/** Each filter, and whether its rows are few enough to be sorted. */
const LISTS: [list: string, filter: Partial<ContactFilter>, isSorted: boolean][] = [
  ['all', {}, false],
  ['of an address book', { bookId: 'cbk_1' }, false],
  ['with words', { words: ['lunch', 'acme'] }, false],
  ['of a group', { group: GROUP }, true],
  ['with an address', { email: 'lin@northwind.example' }, true],
  ['with a number', { phone: '+46812345' }, true],
]
const PAGES: PageRequest<ContactPosition>[] = [
  { page: 1, offset: 0, limit: 25 },
  { page: 2, after: ['lin', 'cnt_1'], offset: 0, limit: 25 },
]

describeEachDatabase('the statements of contact lists', (open) => {
  it.each(LISTS)('contacts %s are read by an index', async (_, filter, isSorted) => {
    const db = await open()
    for (const page of PAGES) {
      const plans = await readPlans(db, (tx) =>
        listContacts(tx, { accountId: ACCOUNT, words: [], ...filter }, [], page),
      )
      expect(plans.length).toBeGreaterThan(0)
      for (const plan of plans) expect(plan).not.toMatch(FULL_SCAN)
      if (!isSorted) expect(plans[0]).not.toMatch(SORTED)
    }
  })

  it('people of messages are read in index order', async () => {
    const db = await open()
    for (const words of [[], ['lin']]) {
      for (const page of PAGES) {
        const filter = { accountId: ACCOUNT, email: undefined, words }
        const plans = await readPlans(db, (tx) => listPeople(tx, filter, page))
        for (const plan of plans) expect(plan).not.toMatch(FULL_SCAN)
        expect(plans[0]).not.toMatch(SORTED)
      }
    }
  })

  it('the rows of a sync, and the address books, scan no table', async () => {
    const db = await open()
    const plans = await readPlans(db, async (tx) => {
      await bookStore(tx).all(ACCOUNT)
      const store = contactStore(tx, 'cbk_1')
      await store.byProviderIds(['contact'])
      await store.byUids(['uid'])
      await store.beforeRound(2, 50)
      await store.keep(['contact'], 2)
      await store.confirm(['cnt_1'], 2)
      await store.remove(['cnt_1'])
    })
    expect(plans.length).toBeGreaterThan(7)
    for (const plan of plans) expect(plan).not.toMatch(FULL_SCAN)
    expect(plans[3]).not.toMatch(SORTED)
  })
})
