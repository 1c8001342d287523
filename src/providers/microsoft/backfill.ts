import type { Clock } from '../../platform/time/clock.ts'
import type { MailboxBackfill } from '../contract/index.ts'
import { object, PageLinks, text, wholeNumber } from '../shared/rest/index.ts'
import { type Graph, SYNC_LIMITS, segment } from './client.ts'
import { withDetails } from './details.ts'
import { AS_TEXT, MESSAGE_FIELDS, receivedAt } from './map.ts'
import { PageSize, withTop } from './page-size.ts'

const DOING = 'reading older messages of a folder'

/**
 * Reads a folder's list by time, newest first. A position is a time, because links to next pages expire. Graph's times are whole
 * seconds, so each list begins with messages that were already read.
 */
export function microsoftBackfill(graph: Graph, clock: Clock): MailboxBackfill {
  const pageSize = new PageSize()
  const messagesPath = (scope: string) => `/me/mailFolders/${segment(scope)}/messages`
  const filter = (sinceMs: number, beforeMs: number) =>
    `receivedDateTime ge ${graphTime(Math.floor(sinceMs / 1000))} and receivedDateTime le ${graphTime(Math.ceil(beforeMs / 1000))}`

  return {
    async count({ scope, sinceMs, beforeMs, signal }) {
      const query = { $select: 'id', $top: 1, $count: 'true', $filter: filter(sinceMs, beforeMs) }
      const body = await graph.get(messagesPath(scope), { query, doing: 'counting messages', signal }, object)
      return wholeNumber(body['@odata.count']) ?? null
    },

    async read({ scope, sinceMs, beforeMs, limit, findStored, signal }) {
      const request = { prefer: [AS_TEXT], doing: DOING, signal, ...SYNC_LIMITS }
      const query = {
        ...MESSAGE_FIELDS,
        $orderby: 'receivedDateTime desc',
        $filter: filter(sinceMs, beforeMs),
      }
      const first = ($top: number) => graph.page(messagesPath(scope), { query: { ...query, $top }, ...request })
      const links = new PageLinks(DOING)
      for (let page = await pageSize.read(limit, first); ; ) {
        const items = new Map(
          page.items.flatMap((item) => (text(item.id) === undefined ? [] : [[text(item.id) ?? '', item]])),
        )
        const stored = await findStored([...items.keys()])
        const unknown = [...items].flatMap(([id, item]) => (stored.has(id) ? [] : [item]))
        const context = { folderId: scope, isNew: () => false, nowMs: clock.now(), signal }
        const found = await withDetails(graph, unknown, context)
        const passed = [...items].filter(
          ([id, item]) => stored.has(id) && (receivedAt(item) ?? beforeMs) < beforeMs,
        ).length
        if (page.nextLink === undefined) return { found, passed, nextMs: null }
        const nextMs = Math.min(beforeMs, ...page.items.flatMap((item) => receivedAt(item) ?? []))
        // Without progress, the page has stored messages of one second only.
        if (found.length > 0 || nextMs < beforeMs) return { found, passed, nextMs }
        const next = graph.resolvePath(links.follow(page.nextLink, items.size), DOING)
        page = await pageSize.read(limit, (messages) => graph.page(withTop(next, messages), request))
      }
    },
  }
}

/** As Graph writes times. */
function graphTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}
