import type { Clock } from '../../lib/clock.ts'
import type { MailboxBackfill } from '../contract/index.ts'
import { object, text, wholeNumber } from '../rest/index.ts'
import { type Graph, SYNC_LIMITS, segment } from './client.ts'
import { AS_TEXT, MESSAGE_FIELDS, receivedAt } from './map.ts'
import { withAttachments } from './sync/fetch.ts'

const DOING = 'reading older messages of a folder'

/**
 * Reads a folder's list by time, newest first. A position is a time, because links to next pages expire. Graph's times are whole
 * seconds, so each list begins with messages that were already read.
 */
export function microsoftBackfill(graph: Graph, clock: Clock): MailboxBackfill {
  const pathOf = (scope: string) => `/me/mailFolders/${segment(scope)}/messages`
  const filter = (sinceMs: number, beforeMs: number) =>
    `receivedDateTime ge ${graphTime(Math.floor(sinceMs / 1000))} and receivedDateTime le ${graphTime(Math.ceil(beforeMs / 1000))}`

  return {
    async count({ scope, sinceMs, beforeMs, signal }) {
      const query = { $select: 'id', $top: 1, $count: 'true', $filter: filter(sinceMs, beforeMs) }
      const body = await graph.get(pathOf(scope), { query, doing: 'counting messages', signal }, object)
      return wholeNumber(body['@odata.count']) ?? null
    },

    async read({ scope, sinceMs, beforeMs, limit, known, signal }) {
      const request = { prefer: [AS_TEXT], doing: DOING, signal, ...SYNC_LIMITS }
      const query = {
        ...MESSAGE_FIELDS,
        ...{ $orderby: 'receivedDateTime desc', $top: limit, $filter: filter(sinceMs, beforeMs) },
      }
      for (let page = await graph.page(pathOf(scope), { query, ...request }); ; ) {
        const items = new Map(
          page.items.flatMap((item) => (text(item.id) === undefined ? [] : [[text(item.id) ?? '', item]])),
        )
        const stored = await known([...items.keys()])
        const unknown = [...items].flatMap(([id, item]) => (stored.has(id) ? [] : [item]))
        const context = { folderId: scope, sinceMs: null, isNew: () => false, nowMs: clock.now(), signal }
        const found = await withAttachments(graph, unknown, context)
        const passed = [...items].filter(
          ([id, item]) => stored.has(id) && (receivedAt(item) ?? beforeMs) < beforeMs,
        ).length
        if (page.nextLink === undefined) return { found, passed, nextMs: null }
        const nextMs = Math.min(beforeMs, ...page.items.flatMap((item) => receivedAt(item) ?? []))
        // Without progress, the page has stored messages of one second only.
        if (found.length > 0 || nextMs < beforeMs) return { found, passed, nextMs }
        page = await graph.page(graph.pathOf(page.nextLink, DOING), request)
      }
    },
  }
}

/** As Graph writes times. */
function graphTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}
