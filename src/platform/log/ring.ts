import { LOG_LEVELS, type LogLevel } from './log.ts'
import type { LogEntry } from './logger.ts'

/**
 * Every given member must match exactly, including the level. An `operation` that ends in `.*` is a prefix, and `*` is any. Without
 * `operation`, records of HTTP requests match only from `warn` on.
 */
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

/** The newest records of this process, in memory; older ones are overwritten. Records of HTTP requests overwrite no others. */
export interface LogRing {
  add(entry: LogEntry): void
  select(filter: LogFilter, range: LogRange): LogView
  /** Calls the listener with every new record. It must not throw or log. Returns a function that ends this. */
  onAdd(listener: (entry: LogEntry) => void): () => void
}

/** Records of HTTP requests, and as many of everything else. */
const RING_SIZE = 2000
const WARN = LOG_LEVELS.indexOf('warn')

export function logRing(size = RING_SIZE): LogRing {
  const requests = new Newest(size)
  const others = new Newest(size)
  const listeners = new Set<(entry: LogEntry) => void>()

  return {
    add(entry) {
      for (const listener of listeners) listener(entry)
      if (isRequest(entry)) requests.add(entry)
      else others.add(entry)
    },
    onAdd(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    select(filter, { upTo, before, after, limit }) {
      const selected: LogEntry[] = []
      let total = 0
      for (const entry of merged(requests.newestFirst(), others.newestFirst())) {
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
    isOperation(entry, filter.operation)
  )
}

function isOperation(entry: LogEntry, wanted: string | undefined): boolean {
  if (wanted === undefined) return !isRequest(entry) || LOG_LEVELS.indexOf(entry.level) >= WARN
  if (wanted === '*') return true
  const operation = entry.operation ?? ''
  return wanted.endsWith('.*') ? operation.startsWith(wanted.slice(0, -1)) : operation === wanted
}

/** Clients cause these records, as many as they send requests. */
function isRequest(entry: LogEntry): boolean {
  return entry.operation?.startsWith('http.') ?? false
}

class Newest {
  readonly #entries: LogEntry[] = []
  readonly #size: number
  #oldest = 0

  constructor(size: number) {
    this.#size = size
  }

  add(entry: LogEntry): void {
    if (this.#entries.length < this.#size) {
      this.#entries.push(entry)
      return
    }
    this.#entries[this.#oldest] = entry
    this.#oldest = (this.#oldest + 1) % this.#size
  }

  *newestFirst(): Generator<LogEntry> {
    const { length } = this.#entries
    for (let back = 1; back <= length; back += 1) {
      const entry = this.#entries[(this.#oldest + length - back) % length]
      if (entry !== undefined) yield entry
    }
  }
}

/** Both newest first. */
function* merged(one: Generator<LogEntry>, other: Generator<LogEntry>): Generator<LogEntry> {
  let left = one.next()
  let right = other.next()
  while (!left.done && !right.done) {
    if (left.value.id > right.value.id) {
      yield left.value
      left = one.next()
    } else {
      yield right.value
      right = other.next()
    }
  }
  if (!left.done) yield left.value
  if (!right.done) yield right.value
  yield* one
  yield* other
}
