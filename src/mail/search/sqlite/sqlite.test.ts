import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { databases } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { searching } from '../../../../test/kit/messages/searching.ts'
import { SearchThread } from '../thread.ts'
import { openIndexFile } from './index-file.ts'

/** Paths of the files that this process has open. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      // The descriptor of this listing, and what was closed meanwhile.
      return []
    }
  })
}

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

  it('is closed with its thread after a while without requests, and opened by the next one', async () => {
    const place = await open.place()
    await open(place)
    const file = join(place.dataDir, 'search.db')
    const thread = new SearchThread({ store: join(place.dataDir, 'posthorn.db'), file, smallList: 0 }, 1)
    onTestFinished(() => thread.close())
    const identities = new Set<string>()
    for (let round = 0; round < 5; round += 1) {
      identities.add(await thread.identity())
      await eventually(() => expect(openFiles().filter((path) => path.startsWith(file))).toEqual([]))
    }
    expect(identities.size).toBe(1)
  })
})
