import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { databases } from '../../../../test/kit/database.ts'
import { searching } from '../../../../test/kit/searching.ts'

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
})
