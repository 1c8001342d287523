import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Db } from '../../../platform/db/index.ts'
import { unindexedMessages } from '../../messages/index.ts'
import { type SearchIndex, SMALL_LIST } from '../contract.ts'
import { SearchThread } from '../thread.ts'
import { TOKENISER_VERSION } from '../tokeniser.ts'

/** Bounds how long a search waits for a step of indexing: some 10 ms. */
const MESSAGES_PER_STEP = 50

/** The index of the file store, in `search.db` beside it. One process and one caller of `indexChanges` at a time. */
export function sqliteIndex(
  db: Db,
  storeFile: string,
  { smallList = SMALL_LIST }: { smallList?: number } = {},
): SearchIndex {
  const file = join(dirname(storeFile), 'search.db')
  const thread = new SearchThread({ store: storeFile, file, smallList })
  return {
    identity: () => thread.identity(),
    mayHave: (identity) => existsSync(file) && identity.startsWith(`${TOKENISER_VERSION} `),

    // A new identity is a new file.
    clear: async () => {},

    indexed: async (messageIds) => new Set(await thread.indexed(messageIds)),

    async indexChanges(limit) {
      const rows = await unindexedMessages(db.read).newest(limit)
      const messageIds = [...new Set(rows.map((row) => row.messageId))]
      for (let start = 0; start < messageIds.length; start += MESSAGES_PER_STEP) {
        await thread.index(messageIds.slice(start, start + MESSAGES_PER_STEP))
      }
      if (rows.length > 0) await db.transaction((tx) => unindexedMessages(tx).remove(rows.map((row) => row.id)))
      return rows.length
    },

    find: (query) => thread.find(query),
    close: () => thread.close(),
  }
}
