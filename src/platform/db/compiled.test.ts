import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { compiledOnce } from './compiled.ts'
import { padded } from './padded.ts'

declare module './db.ts' {
  interface Tables {
    compiledTest: { id: number; text: string | null }
  }
}

const insert = compiledOnce((handle, id: number, text: string | null) =>
  handle.insertInto('compiledTest').values({ id, text }).returning('id'),
)
const append = compiledOnce((handle, id: number, text: string) =>
  handle
    .updateTable('compiledTest')
    .set((eb) => ({ text: sql<string>`${eb.ref('text')} || ${text}` }))
    .where('id', '=', id)
    .where('text', 'is not', null)
    .returning('text'),
)
const find = compiledOnce((handle, ids: readonly number[], text: string) =>
  handle.selectFrom('compiledTest').selectAll().where('id', 'in', ids).where('text', '!=', text).orderBy('id').limit(9),
)

describeEachDatabase('compiledOnce', (databases) => {
  it('runs a statement with the values of each call, in and outside transactions', async () => {
    const db = await databases()
    await db.transaction(async (tx) => {
      await sql`create table "compiledTest" ("id" integer, "text" text)`.execute(tx)
      expect(await insert(tx, 1, 'a')).toEqual([{ id: 1 }])
      expect(await insert(tx, 2, null)).toEqual([{ id: 2 }])
      expect([await append(tx, 1, 'b'), await append(tx, 2, 'b'), await append(tx, 3, 'b')]).toEqual([
        [{ text: 'ab' }],
        [],
        [],
      ])
    })
    await db.statement((handle) => insert(handle, 3, "it's"))
    expect(await find(db.read, [1, 2, 3], '')).toEqual([
      { id: 1, text: 'ab' },
      { id: 3, text: "it's" },
    ])
    expect(await find(db.read, padded([3, 1, 4]), 'ab')).toEqual([{ id: 3, text: "it's" }])
    expect(await find(db.read, [1], '')).toEqual([{ id: 1, text: 'ab' }])
  })

  it('takes lists of many lengths', async () => {
    const db = await databases()
    await db.transaction(async (tx) => {
      await sql`create table "compiledTest" ("id" integer, "text" text)`.execute(tx)
      await insert(tx, 150, 'a')
    })
    const upTo = (length: number) => Array.from({ length }, (_, index) => index + 1)
    for (const length of [...upTo(150), 3]) {
      expect(await find(db.read, upTo(length), '')).toHaveLength(length === 150 ? 1 : 0)
    }
  })

  it('rejects an argument that changes the text or is converted', async () => {
    const db = await databases()
    const limited = compiledOnce((handle, id: number, isNewest: boolean) =>
      handle
        .selectFrom('compiledTest')
        .selectAll()
        .where('id', '=', id)
        .orderBy('id', isNewest ? 'desc' : 'asc'),
    )
    await expect(limited(db.read, 1, true)).rejects.toThrow('argument 1 is no value of the statement: select')
    const converted = compiledOnce((handle, id: number) =>
      handle
        .selectFrom('compiledTest')
        .selectAll()
        .where('id', '=', id + 1),
    )
    await expect(converted(db.read, 1)).rejects.toThrow('argument 0')
  })
})
