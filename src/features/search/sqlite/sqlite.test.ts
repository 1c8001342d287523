import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { databases } from '../../../../test/kit/database.ts'
import { searching } from '../../../../test/kit/searching.ts'
import { openIndexFile } from './index-file.ts'

describe('the search index of the file store', () => {
  const open = databases('sqlite')

  it('is built anew when its file is damaged', async () => {
    const place = await open.place()
    const db = await open(place)
    const first = searching(db)
    const { add, find, accountId } = await first.mailbox()
    await add({ subject: 'word' })
    expect((await find({ q: 'word' })).pagination.total).toBe(1)
    await first.composition.close()
    writeFileSync(join(place.dataDir, 'search.db'), 'not a database')
    const { reader } = searching(db).composition.features
    expect((await reader.list(accountId, { q: 'word' })).pagination).toMatchObject({ total: 1 })
  })

  it('indexes messages while a transaction writes to the file store', async () => {
    const place = await open.place()
    const db = await open(place)
    const { add } = await searching(db).mailbox()
    await add({ subject: 'first' })
    const store = join(place.dataDir, 'posthorn.db')
    const index = openIndexFile({ store, file: join(place.dataDir, 'other.db'), smallList: 0 })
    onTestFinished(() => index.close())
    const ids = (await db.read.selectFrom('messages').select('id').execute()).map(({ id }) => id)
    await db.transaction(async (tx) => {
      await tx.updateTable('messages').set({ version: 2 }).execute()
      index.index(ids)
    })
    expect(index.indexed(ids)).toEqual(ids)
    expect(ids).toHaveLength(1)
  })
})
