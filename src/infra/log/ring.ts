import { type Page, type PageQuery, pageOf, pageRequest } from '../../lib/page.ts'
import type { LogEntry } from './entry.ts'
import type { LogLevel } from './log.ts'

/** Every given part must be equal; the level exactly, not "at least". */
export interface LogFilter {
  level?: LogLevel | undefined
  accountId?: string | undefined
  provider?: string | undefined
  operation?: string | undefined
}

/** The newest records of this process, in memory. */
export interface LogRing {
  add(entry: LogEntry): void
  /**
   * Newest first. Pages hang together while records keep coming: page 2 goes on where the page 1 that `viewer` (who
   * asks, for example the owner of the key) read last with this filter ended; a cursor carries that point itself.
   */
  list(filter: LogFilter, query: PageQuery, viewer: string): Page<LogEntry>
}

export const RING_SIZE = 2000
const DEFAULT_LIMIT = 100
const MAX_ANCHORS = 500

export function logRing(size = RING_SIZE): LogRing {
  const entries: LogEntry[] = []
  let oldest = 0
  /** The newest id that a viewer saw on page 1, by viewer and filter; the least recently read one is forgotten. */
  const anchors = new Map<string, string>()

  function* newestFirst(): Generator<LogEntry> {
    for (let back = 1; back <= entries.length; back += 1) {
      const entry = entries[(oldest + entries.length - back) % entries.length]
      if (entry !== undefined) yield entry
    }
  }

  function anchorOf(page: number, viewKey: string): string {
    const known = anchors.get(viewKey)
    const anchor = page === 1 || known === undefined ? (newestFirst().next().value?.id ?? '') : known
    anchors.delete(viewKey)
    anchors.set(viewKey, anchor)
    const first = anchors.keys().next().value
    if (anchors.size > MAX_ANCHORS && first !== undefined) anchors.delete(first)
    return anchor
  }

  return {
    add(entry) {
      if (entries.length < size) {
        entries.push(entry)
        return
      }
      entries[oldest] = entry
      oldest = (oldest + 1) % size
    },
    list(filter, query, viewer) {
      const about = ['logs', filter.level, filter.accountId, filter.provider, filter.operation]
      const request = pageRequest(query, about, DEFAULT_LIMIT)
      const [anchor, last] = request.after?.map(String) ?? [
        anchorOf(request.page, JSON.stringify([viewer, about, request.limit])),
      ]
      const seen = [...newestFirst()].filter((entry) => matches(entry, filter) && entry.id <= (anchor ?? ''))
      const rest = last === undefined ? seen.slice(request.offset) : seen.filter((entry) => entry.id < last)
      return pageOf(rest.slice(0, request.limit + 1), request, seen.length, about, (entry) => [anchor ?? '', entry.id])
    },
  }
}

function matches(entry: LogEntry, filter: LogFilter): boolean {
  return (
    (filter.level === undefined || entry.level === filter.level) &&
    (filter.accountId === undefined || entry.accountId === filter.accountId) &&
    (filter.provider === undefined || entry.provider === filter.provider) &&
    (filter.operation === undefined || entry.operation === filter.operation)
  )
}
