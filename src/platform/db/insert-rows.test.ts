import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { insertManyRows, insertRows, type Tables } from './index.ts'

declare module './db.ts' {
  interface Tables {
    insertRowsTest: { id: number; text: string | null; more: string | null }
  }
}

describeEachDatabase('insertRows', (databases) => {
  async function table(rows: readonly Tables['insertRowsTest'][]) {
    const db = await databases()
    await db.transaction(async (tx) => {
      await sql`create table "insertRowsTest" ("id" integer, "text" text, "more" text)`.execute(tx)
      await insertRows(tx, 'insertRowsTest', rows)
    })
    return db.read.selectFrom('insertRowsTest').selectAll().orderBy('id').execute()
  }

  it('inserts more rows than fit into a statement', async () => {
    const rows = Array.from({ length: 2345 }, (_, id) => ({
      id,
      text: `text ${id}`,
      more: id % 2 === 0 ? null : 'more',
    }))
    expect(await table(rows)).toEqual(rows)
  })

  it('inserts texts that need quotes in a literal', async () => {
    const texts = [
      '"',
      '\\',
      '{}',
      ',',
      ' ',
      '',
      'null',
      'NULL',
      "it's",
      '$1',
      '\n',
      '"\n\\"',
      '\u0001',
      '\u007f"',
      'a\u2028b',
      'ä😀',
    ]
    const rows = Array.from({ length: 120 }, (_, id) => ({ id, text: texts[id % texts.length] ?? null, more: null }))
    const db = await databases()
    await db.transaction(async (tx) => {
      await sql`create table "insertRowsTest" ("id" integer, "text" text, "more" text)`.execute(tx)
      await insertManyRows(tx, 'insertRowsTest', rows)
    })
    expect(await db.read.selectFrom('insertRowsTest').selectAll().orderBy('id').execute()).toEqual(rows)
  })

  it('inserts thousands of plain rows', async () => {
    const rows = Array.from({ length: 4321 }, (_, id) => ({ id, text: `id_${id}`, more: id % 2 === 0 ? null : 'more' }))
    const db = await databases()
    await db.transaction(async (tx) => {
      await sql`create table "insertRowsTest" ("id" integer, "text" text, "more" text)`.execute(tx)
      await insertManyRows(tx, 'insertRowsTest', [])
      await insertManyRows(tx, 'insertRowsTest', rows)
    })
    expect(await db.read.selectFrom('insertRowsTest').selectAll().orderBy('id').execute()).toEqual(rows)
  })

  it('inserts thousands of rows with equal values in some columns, and few of them', async () => {
    const rows = Array.from({ length: 3210 }, (_, id) => ({ id, text: id < 3000 ? 'same' : `id_${id}`, more: null }))
    const db = await databases()
    await db.transaction(async (tx) => {
      await sql`create table "insertRowsTest" ("id" integer, "text" text, "more" text)`.execute(tx)
      await insertManyRows(tx, 'insertRowsTest', rows)
      await insertManyRows(tx, 'insertRowsTest', [{ id: 5000, text: 'same', more: null }])
      const equal = Array.from({ length: 100 }, () => ({ id: 6000, text: null, more: 'equal' }))
      await insertManyRows(tx, 'insertRowsTest', equal)
    })
    const stored = await db.read.selectFrom('insertRowsTest').selectAll().orderBy('id').execute()
    const equal = { id: 6000, text: null, more: 'equal' }
    expect(stored).toEqual([...rows, { id: 5000, text: 'same', more: null }, ...Array(100).fill(equal)])
  })

  it('inserts nothing without rows, and again as many rows with other values', async () => {
    expect(await table([])).toEqual([])
    expect(await table([{ id: 1, text: "it's", more: '?' }])).toEqual([{ id: 1, text: "it's", more: '?' }])
    expect(await table([{ id: 2, text: '$1', more: null }])).toEqual([{ id: 2, text: '$1', more: null }])
  })

  it('reads the values by name when rows list their columns in another order', async () => {
    const rows = [
      { id: 1, text: 'a', more: 'b' },
      { more: 'd', text: 'c', id: 2 },
    ]
    expect(await table(rows)).toEqual(rows)
  })

  it('resolves conflicts and returns columns, for as many rows with and without a tail', async () => {
    const db = await databases()
    const rows = [1, 2, 3].map((id) => ({ id, text: 'first', more: null }))
    const again = rows.map((row) => ({ ...row, text: 'second' }))
    const tail = `on conflict ("id") do update set "text" = excluded."text"
      where "insertRowsTest"."id" > 1 returning "id", "text"`
    const [inserted, updated] = await db.transaction(async (tx) => {
      await sql`create table "insertRowsTest" ("id" integer primary key, "text" text, "more" text)`.execute(tx)
      return [await insertRows(tx, 'insertRowsTest', rows), await insertRows(tx, 'insertRowsTest', again, tail)]
    })
    expect(inserted).toEqual([])
    expect(updated).toEqual([
      { id: 2, text: 'second' },
      { id: 3, text: 'second' },
    ])
  })
})
