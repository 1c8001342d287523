import type { Comparison, KnownMailboxMessage } from '../contract/index.ts'
import { type Graph, segment } from './graph.ts'
import { type Page, text } from './json.ts'
import { receivedAt } from './map.ts'
import { stillInFolder } from './messages.ts'

/** Graph answers no more ids at once. */
const PAGE_IDS = 1000

/**
 * Stored messages of a folder that stand there no more, in pieces. The ids of both sides are laid side by side, newest first; what is not
 * listed is looked for by name before it counts as gone: while a list is read page by page, a removal shifts what comes after it.
 */
export async function* goneMessages(
  graph: Graph,
  folderId: string,
  { known }: Comparison,
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  const listed = new Set<string>()
  const pages = folderPages(graph, folderId, signal)
  let oldestListedMs = Number.POSITIVE_INFINITY
  for (let after: KnownMailboxMessage | undefined; ; ) {
    const stored = await known(after)
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
    const present = await stillInFolder(graph, folderId, missing, signal)
    const gone = missing.filter((id) => !present.has(id))
    if (gone.length > 0) yield gone
  }
}

async function* folderPages(graph: Graph, folderId: string, signal: AbortSignal): AsyncGenerator<Page> {
  const doing = 'listing the messages of a folder'
  const query = { $select: 'id,receivedDateTime', $orderby: 'receivedDateTime desc', $top: PAGE_IDS }
  let answer = await graph.page(`/me/mailFolders/${segment(folderId)}/messages`, { query, doing, signal })
  for (;;) {
    yield answer
    if (answer.nextLink === undefined) return
    answer = await graph.page(graph.pathOf(answer.nextLink, doing), { doing, signal })
  }
}
