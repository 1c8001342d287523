import { LRUCache } from 'lru-cache'
import type { Db } from '../../../platform/db/index.ts'
import type { MessageList } from './choose-list.ts'
import { dataVersionReader } from './data-versions.ts'

export interface PageCache {
  /**
   * Returns the page that an earlier call read for the same key, if nothing of the account was written since; otherwise the page
   * that `read` returns. Undefined when there is no such account.
   */
  page(
    accountId: string,
    key: readonly unknown[],
    read: () => Promise<ReadPage | undefined>,
  ): Promise<MessageList | undefined>
}

interface ReadPage {
  list: MessageList
  /** False: a message was left out, although it exists. The next request reads the page again. */
  isComplete: boolean
}

interface CachedPage {
  dataVersion: number
  list: MessageList
}

const MAX_BYTES = 16 * 1024 * 1024
/** An estimate of what an entry needs besides its messages. */
const ENTRY_BYTES = 1000

/**
 * Keeps pages of stored messages in memory. Clients poll lists that seldom change, and reading a page costs ten times as much as
 * reading `dataVersion`, which every transaction on the account's messages or labels increments. It is read before the page, so
 * a page is never older than its version.
 */
export function pageCache(db: Pick<Db, 'read'>): PageCache {
  const readDataVersion = dataVersionReader(db)
  const pages = new LRUCache<string, CachedPage>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ list }) => ENTRY_BYTES + list.messages.length,
  })
  return {
    async page(accountId, parts, read) {
      const dataVersion = await readDataVersion(accountId)
      if (dataVersion === undefined) return undefined
      const key = JSON.stringify([accountId, ...parts])
      const cached = pages.get(key)
      if (cached?.dataVersion === dataVersion) return cached.list
      const page = await read()
      if (page?.isComplete) pages.set(key, { dataVersion, list: page.list })
      return page?.list
    },
  }
}
