import type { LogEntry } from './entry.ts'
import type { LogLevel } from './log.ts'

/** Every given part must be equal; the level exactly, not "at least". */
export interface LogFilter {
  level?: LogLevel | undefined
  accountId?: string | undefined
  provider?: string | undefined
  operation?: string | undefined
}

/** A stretch of the records. Ids are ordered by time, so they mark places that stay while records keep coming. */
export interface LogRange {
  /** Only records up to this id: a list that is anchored here does not move. */
  upTo?: string | undefined
  /** Only records older than this id. */
  before?: string | undefined
  limit: number
}

export interface LogView {
  /** Newest first, at most `limit`. */
  entries: LogEntry[]
  /** How many records match up to the anchor, whatever `before` and `limit` say. */
  total: number
}

/** The newest records of this process, in memory. */
export interface LogRing {
  add(entry: LogEntry): void
  select(filter: LogFilter, range: LogRange): LogView
}

const RING_SIZE = 2000

export function logRing(size = RING_SIZE): LogRing {
  const entries: LogEntry[] = []
  let oldest = 0

  function* newestFirst(): Generator<LogEntry> {
    for (let back = 1; back <= entries.length; back += 1) {
      const entry = entries[(oldest + entries.length - back) % entries.length]
      if (entry !== undefined) yield entry
    }
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
    select(filter, { upTo, before, limit }) {
      const selected: LogEntry[] = []
      let total = 0
      for (const entry of newestFirst()) {
        if (!matches(entry, filter) || (upTo !== undefined && entry.id > upTo)) continue
        total += 1
        if (selected.length < limit && (before === undefined || entry.id < before)) selected.push(entry)
      }
      return { entries: selected, total }
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
