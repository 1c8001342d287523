import type { RemoteBook } from '../../contract/index.ts'
import { type Json, PageLinks, text } from '../../shared/rest/index.ts'
import { type Graph, type Page, requirePage, segment } from '../client.ts'
import { FOLDER_FIELDS, remoteBook } from './map.ts'

const LISTING = 'listing the folders of contacts'
/** The well-known name of the folder that every mailbox has. Lists of folders leave it out. */
const DEFAULT_FOLDER = 'contacts'
const PAGE_FOLDERS = 100
const MAX_FOLDERS = 500
const MAX_LEVELS = 20

/** The default folder, and all folders below it. */
export async function listBooks(graph: Graph, signal: AbortSignal): Promise<RemoteBook[]> {
  const path = `/me/contactFolders/${DEFAULT_FOLDER}`
  const root = await graph.get(
    path,
    { query: { $select: FOLDER_FIELDS }, doing: LISTING, signal },
    (body) => body as Json,
  )
  const folders = await listBelow(graph, [root], signal)
  return [root, ...folders].flatMap((folder, index) => remoteBook(folder, index === 0) ?? [])
}

/** The folders of one level after the other, in as few requests as possible. */
async function listBelow(graph: Graph, parents: readonly Json[], signal: AbortSignal): Promise<Json[]> {
  const found: Json[] = []
  const known = new Set(parents.map(({ id }) => id))
  let level = parents
  for (let depth = 0; level.length > 0 && depth < MAX_LEVELS && found.length < MAX_FOLDERS; depth += 1) {
    const requests = level.flatMap(({ id }) => childRequest(text(id) ?? ''))
    const results = await graph.batch(requests, { doing: LISTING, signal })
    const children: Json[] = []
    for (const request of requests) {
      children.push(...(await readAll(graph, requirePage(results.get(request), LISTING), signal)))
    }
    // A folder that is listed below itself would be listed without end.
    level = children.filter(({ id }) => text(id) !== undefined && !known.has(id))
    for (const { id } of level) known.add(id)
    found.push(...level)
  }
  return found.slice(0, MAX_FOLDERS)
}

function childRequest(id: string) {
  if (id === '') return []
  return [
    { path: `/me/contactFolders/${segment(id)}/childFolders`, query: { $select: FOLDER_FIELDS, $top: PAGE_FOLDERS } },
  ]
}

/** The items of a page and of those that follow it. */
async function readAll(graph: Graph, first: Page, signal: AbortSignal): Promise<Json[]> {
  const items = [...first.items]
  const links = new PageLinks(LISTING)
  for (let page = first; page.nextLink !== undefined && items.length < MAX_FOLDERS; ) {
    const path = graph.resolvePath(links.follow(page.nextLink, page.items.length), LISTING)
    page = await graph.page(path, { doing: LISTING, signal })
    items.push(...page.items)
  }
  return items
}
