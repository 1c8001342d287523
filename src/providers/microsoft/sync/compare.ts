import type { Comparison, KnownMailboxMessage } from '../../contract/index.ts'
import { PageLinks, text } from '../../shared/rest/index.ts'
import { type Graph, type Page, segment } from '../client.ts'
import { receivedAt } from '../map.ts'
import { type PageSize, withTop } from '../page-size.ts'
import { idsInFolder } from './fetch.ts'

/** Graph's limit. */
const PAGE_IDS = 1000

/**
 * Yields the stored messages that are no longer in the folder, in chunks. Reads the ids of both sides in parallel, newest first. A
 * message that is not listed is looked up before it counts as deleted, because a deletion shifts the pages that follow it.
 */
export async function* deletedMessages(
  graph: Graph,
  folderId: string,
  { listStored, pageSize }: Comparison & { pageSize: PageSize },
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  const listed = new Set<string>()
  const pages = folderPages(graph, folderId, pageSize, signal)
  let oldestListedMs = Number.POSITIVE_INFINITY
  for (let after: KnownMailboxMessage | undefined; ; ) {
    const stored = await listStored(after)
    after = stored.at(-1)
    if (after === undefined) return
    while (oldestListedMs >= after.receivedAt) {
      const { value, done } = await pages.next()
      if (done) break
      for (const item of value.items) {
        const id = text(item.id)
        if (id !== undefined) listed.add(id)
        oldestListedMs = receivedAt(item) ?? oldestListedMs
      }
    }
    const missing = stored.map(({ providerMessageId }) => providerMessageId).filter((id) => !listed.has(id))
    const present = await idsInFolder(graph, folderId, missing, signal)
    const deleted = missing.filter((id) => !present.has(id))
    if (deleted.length > 0) yield deleted
  }
}

async function* folderPages(
  graph: Graph,
  folderId: string,
  pageSize: PageSize,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  const doing = 'listing the messages of a folder'
  const query = { $select: 'id,receivedDateTime', $orderby: 'receivedDateTime desc' }
  const path = `/me/mailFolders/${segment(folderId)}/messages`
  let page = await pageSize.read(PAGE_IDS, ($top) => graph.page(path, { query: { ...query, $top }, doing, signal }))
  const links = new PageLinks(doing)
  for (;;) {
    yield page
    if (page.nextLink === undefined) return
    const next = graph.resolvePath(links.follow(page.nextLink, page.items.length), doing)
    page = await pageSize.read(PAGE_IDS, (messages) => graph.page(withTop(next, messages), { doing, signal }))
  }
}
