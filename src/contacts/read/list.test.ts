import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { readPlans } from '../../../test/kit/database/plans.ts'
import { type Db, insertManyRows } from '../../platform/db/index.ts'
import type { ContactRow, GroupRow } from '../store.ts'
import { type ContactFilter, type ContactPosition, listContacts } from './list.ts'

const ACCOUNT = 'acc_1'
const CONTACTS = 3400
const LIMIT = 170
/** Sorts unlike the ids, and has equal names, whose order is that of the ids. */
const nameOf = (n: number) => `person ${String((n * 7919) % 1700).padStart(4, '0')}`

const ROWS = Array.from({ length: CONTACTS }, (_, n) => buildRow(n, ACCOUNT))
/** Each with the numbers of its members. Sizes lie on both sides of what is read once, and of a small group. */
const GROUPS: Record<string, (n: number) => boolean> = {
  nobody: () => false,
  few: (n) => n % 20 === 0,
  'most of a page less': (n) => n < 1000,
  'over a thousand': (n) => n < 1001,
  'three thousand': (n) => n < 3000,
  'over three thousand': (n) => n >= 100,
}

describeEachDatabase('lists of many contacts', (open) => {
  it.each(Object.keys(GROUPS))(
    'returns the members of a group of %s once each, by name, with a total',
    async (name) => {
      const db = await fill(await open())
      const members = ROWS.filter((_, n) => GROUPS[name]?.(n))
      await expectPages(db, { group: buildGroup(name) }, members)
      const rare = members.filter(({ searchText }) => searchText.includes('rare'))
      await expectPages(db, { group: buildGroup(name), words: ['rare'] }, rare)
      await expectPages(
        db,
        { group: buildGroup(name), bookId: 'cbk_1' },
        members.filter(({ bookId }) => bookId === 'cbk_1'),
      )
    },
  )

  it('returns what a word finds, once each, by name, with a total', async () => {
    const db = await fill(await open())
    await expectPages(db, { words: ['person'] }, ROWS)
    for (const words of [['rare'], ['rare', 'often']]) {
      const found = ROWS.filter(({ searchText }) => words.every((word) => searchText.includes(word)))
      await expectPages(db, { words }, found)
    }
  })

  it('goes on after a contact that no longer matches', async () => {
    const db = await fill(await open())
    const members = sorted(ROWS.filter((_, n) => GROUPS.few?.(n)))
    const [last, next] = [members[9], members[10]]
    if (last === undefined || next === undefined) throw new Error('The group is too small.')
    await db.transaction((tx) => tx.deleteFrom('contactGroupMembers').where('memberUid', '=', last.uid).execute())
    const page = await read(db, { group: buildGroup('few') }, { after: [last.sortName, last.id] })
    expect(page.rows[0]?.id).toBe(next.id)
    expect(page.total).toEqual({ count: members.length - 1, capped: false })
  })

  it('reads a large group in the order of names, with no scan and no sort', async () => {
    const db = await fill(await open())
    const filter = { accountId: ACCOUNT, words: [], group: buildGroup('over three thousand') }
    const plans = await readPlans(db, (tx) => listContacts(tx, filter, [], { page: 1, offset: 0, limit: 25 }))
    const page = plans.find((plan) => plan.includes('order by'))
    expect(page).toMatch(/contacts_name/)
    expect(page).not.toMatch(/TEMP B-TREE|Sort {2}|SCAN contacts\b(?! USING)|Seq Scan/)
  })
})

async function expectPages(db: Db, filter: Partial<ContactFilter>, rows: readonly ContactRow[]): Promise<void> {
  const expected = sorted(rows).map(({ id }) => id)
  const total = { count: expected.length, capped: false }
  const byCursor: string[] = []
  for (let after: ContactPosition | undefined, isMore = true; isMore; ) {
    const page = await read(db, filter, { after })
    expect(page.total).toEqual(total)
    const shown = page.rows.slice(0, LIMIT)
    byCursor.push(...shown.map(({ id }) => id))
    isMore = page.rows.length > LIMIT
    after = shown.length === 0 ? undefined : [shown.at(-1)?.sortName ?? '', shown.at(-1)?.id ?? '']
  }
  expect(byCursor).toEqual(expected)
  for (const offset of [LIMIT, Math.floor(expected.length / 2), expected.length]) {
    const page = await read(db, filter, { offset })
    expect(page.rows.map(({ id }) => id)).toEqual(expected.slice(offset, offset + LIMIT + 1))
    expect(page.total).toEqual(total)
  }
}

function read(
  db: Db,
  filter: Partial<ContactFilter>,
  { after, offset = 0 }: { after?: ContactPosition | undefined; offset?: number },
) {
  const request = { page: 1, offset, limit: LIMIT, ...(after !== undefined && { after }) }
  return listContacts(db.read, { accountId: ACCOUNT, words: [], ...filter }, [], request)
}

/** Beside another account with the same contacts and groups. */
async function fill(db: Db): Promise<Db> {
  await db.transaction(async (tx) => {
    await insertManyRows(tx, 'contacts', ROWS)
    const others = ROWS.slice(0, 300).map((_, n) => ({
      ...buildRow(n, 'acc_2'),
      id: `cnt_other_${n}`,
      bookId: 'cbk_9',
    }))
    await insertManyRows(tx, 'contacts', others)
    for (const [name, isMember] of Object.entries(GROUPS)) {
      const members = ROWS.filter((_, n) => isMember(n)).map(({ bookId, uid }) => ({
        groupId: name,
        accountId: ACCOUNT,
        bookId,
        memberUid: uid,
      }))
      await insertManyRows(tx, 'contactGroupMembers', members)
    }
  })
  return db
}

function sorted(rows: readonly ContactRow[]): ContactRow[] {
  const key = ({ sortName, id }: ContactRow) => `${sortName} ${id}`
  return rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
}

function buildRow(n: number, accountId: string): ContactRow {
  const id = String(n).padStart(5, '0')
  return {
    id: `cnt_${id}`,
    accountId,
    bookId: n % 3 === 0 ? 'cbk_2' : 'cbk_1',
    providerId: `${id}.vcf`,
    uid: `uid ${id}`,
    sortName: nameOf(n),
    searchText: `${nameOf(n)} ${n % 40 === 0 ? 'rare' : 'usual'} ${n % 2 === 0 ? 'often' : ''}`,
    content: '{}',
    round: 1,
    version: 1,
    apiChange: 0,
    confirmations: 0,
    createdAt: 1,
    updatedAt: 1,
  }
}

function buildGroup(name: string): GroupRow {
  return {
    id: name,
    accountId: ACCOUNT,
    bookId: null,
    providerId: name,
    kind: 'category',
    name,
    isWritable: 0,
    createdAt: 1,
    updatedAt: 1,
  }
}
