import type { LogLevel } from './log.ts'
import type { LogEntry } from './logger.ts'

/** Every given member must match exactly, including the level. */
export interface LogFilter {
  level?: LogLevel | undefined
  accountId?: string | undefined
  provider?: string | undefined
  operation?: string | undefined
}

/** A range of records. Ids are ordered by time, so a range stays the same while new records arrive. */
export interface LogRange {
  /** Only records up to this id. */
  upTo?: string | undefined
  /** Only records older than this id. */
  before?: string | undefined
  limit: number
}

export interface LogView {
  /** Newest first, at most `limit`. */
  entries: LogEntry[]
  /** Number of matching records up to `upTo`, regardless of `before` and `limit`. */
  total: number
}

/** The newest records of this process, in memory; older ones are overwritten. */
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
