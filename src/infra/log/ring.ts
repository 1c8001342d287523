import type { LogLevel } from './log.ts'
import type { LogEntry } from './logger.ts'

/** Every given member must match exactly, including the level. An `operation` that ends in `.*` is a prefix. */
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
  /** Only records newer than this id. */
  after?: string | undefined
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
  /** Calls the listener with every new record. It must not throw or log. Returns a function that ends this. */
  onAdd(listener: (entry: LogEntry) => void): () => void
}

const RING_SIZE = 2000

export function logRing(size = RING_SIZE): LogRing {
  const entries: LogEntry[] = []
  const listeners = new Set<(entry: LogEntry) => void>()
  let oldest = 0

  function* newestFirst(): Generator<LogEntry> {
    for (let back = 1; back <= entries.length; back += 1) {
      const entry = entries[(oldest + entries.length - back) % entries.length]
      if (entry !== undefined) yield entry
    }
  }

  return {
    add(entry) {
      for (const listener of listeners) listener(entry)
      if (entries.length < size) {
        entries.push(entry)
        return
      }
      entries[oldest] = entry
      oldest = (oldest + 1) % size
    },
    onAdd(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    select(filter, { upTo, before, after, limit }) {
      const selected: LogEntry[] = []
      let total = 0
      for (const entry of newestFirst()) {
        if (after !== undefined && entry.id <= after) continue
        if (!matchesFilter(entry, filter) || (upTo !== undefined && entry.id > upTo)) continue
        total += 1
        if (selected.length < limit && (before === undefined || entry.id < before)) selected.push(entry)
      }
      return { entries: selected, total }
    },
  }
}

export function matchesFilter(entry: LogEntry, filter: LogFilter): boolean {
  return (
    (filter.level === undefined || entry.level === filter.level) &&
    (filter.accountId === undefined || entry.accountId === filter.accountId) &&
    (filter.provider === undefined || entry.provider === filter.provider) &&
    (filter.operation === undefined || isOperation(entry.operation ?? '', filter.operation))
  )
}

function isOperation(operation: string, wanted: string): boolean {
  return wanted.endsWith('.*') ? operation.startsWith(wanted.slice(0, -1)) : operation === wanted
}
