import { randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { type Bus, jsonReader, subscribeJson } from '../../platform/bus/index.ts'
import { type LogEntry, type LogFilter, type LogRing, matchesFilter } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { batchSchema, JOINED_LIMITS, tailSchema, watchSchema } from './hints.ts'
import { joiner, split } from './split-text.ts'

export interface TailDeps {
  bus: Bus
  ring: Pick<LogRing, 'onAdd'>
  instanceId: string
  clock: Clock
  /** How long new records are collected before they are published. Default 250. */
  collectMs?: number
}

/** New records of the other replicas. */
export interface Tail {
  /** Receives the records that match one of these filters, until the next call. */
  watch(filters: readonly LogFilter[]): void
  /** Stops receiving, and publishing for other replicas. Twice safely. */
  close(): void
}

interface Watch {
  from: string
  filters: LogFilter[]
}

type TailPart = Static<typeof tailSchema>

interface Batch {
  entries: LogEntry[]
  /** Matching records that were not published. */
  dropped: number
}

const WATCH_TOPIC = 'logs.watch'
const TAIL_TOPIC = 'logs.tail'
const COLLECT_MS = 250
/** A replica that watches announces it at this interval. */
const ANNOUNCE_MS = 5000
/** A watch without an announcement for this long has ended: its replica died. */
const WATCH_MS = 15_000
const MAX_RECORDS_PER_BATCH = 200
/** Longer lists of filters are replaced by one that matches everything, because a bus payload holds 4 KB. */
const MAX_FILTERS_BYTES = 3000
/** Replicas that watch at once. */
const MAX_WATCHES = 100
/** Batches whose parts are incomplete. */
const MAX_JOINING = 50

export function replicaTail(deps: TailDeps, onRecords: (entries: readonly LogEntry[], dropped: number) => void): Tail {
  const { bus, ring, instanceId, clock, collectMs = COLLECT_MS } = deps
  /** Filters that other replicas watch, by instance. `until` is monotonic. */
  const watches = new Map<string, { filters: readonly LogFilter[]; until: number }>()
  const readBatch = jsonReader(batchSchema, JOINED_LIMITS)
  const joining = new Map<string, ReturnType<typeof joiner>>()
  let own: readonly LogFilter[] = []
  let collected: Batch = { entries: [], dropped: 0 }
  let collecting: NodeJS.Timeout | undefined
  let announcing: NodeJS.Timeout | undefined

  const stops = [
    ring.onAdd(collect),
    subscribeJson(bus, WATCH_TOPIC, watchSchema, ({ from, filters }) => {
      if (from === instanceId) return
      if (filters.length === 0) watches.delete(from)
      else if (watches.has(from) || watches.size < MAX_WATCHES)
        watches.set(from, { filters, until: clock.monotonic() + WATCH_MS })
    }),
    subscribeJson(bus, TAIL_TOPIC, tailSchema, (part) => {
      if (own.length > 0 && part.from !== instanceId) receive(part)
    }),
  ]

  function collect(entry: LogEntry): void {
    if (watches.size === 0 || !isWatched(entry)) return
    if (collected.entries.length < MAX_RECORDS_PER_BATCH) collected.entries.push(entry)
    else collected.dropped += 1
    collecting ??= setTimeout(publish, collectMs)
  }

  function isWatched(entry: LogEntry): boolean {
    for (const [from, { filters, until }] of watches) {
      if (clock.monotonic() > until) watches.delete(from)
      else if (filters.some((filter) => matchesFilter(entry, filter))) return true
    }
    return false
  }

  function publish(): void {
    collecting = undefined
    const batch = randomBytes(9).toString('base64url')
    for (const part of split(JSON.stringify(collected))) {
      const sent: TailPart = { from: instanceId, batch, ...part }
      bus.publish(TAIL_TOPIC, JSON.stringify(sent))
    }
    collected = { entries: [], dropped: 0 }
  }

  function receive(part: TailPart): void {
    const join = joining.get(part.batch) ?? joiner()
    joining.set(part.batch, join)
    // A lost part leaves its batch incomplete.
    for (const oldest of joining.keys()) {
      if (joining.size <= MAX_JOINING) break
      joining.delete(oldest)
    }
    const text = join(part)
    if (text === undefined) return
    joining.delete(part.batch)
    const batch = readBatch(text)
    if (batch === undefined) bus.reportInvalid?.(TAIL_TOPIC)
    else onRecords(batch.entries, batch.dropped)
  }

  function announce(): void {
    const unique = [...new Set(own.map((filter) => JSON.stringify(filter)))].map((text): LogFilter => JSON.parse(text))
    const isLong = Buffer.byteLength(JSON.stringify(unique)) > MAX_FILTERS_BYTES
    const watch: Watch = { from: instanceId, filters: isLong ? [{ operation: '*' }] : unique }
    bus.publish(WATCH_TOPIC, JSON.stringify(watch))
  }

  return {
    watch(filters) {
      own = filters
      announce()
      clearInterval(announcing)
      announcing = filters.length === 0 ? undefined : setInterval(announce, ANNOUNCE_MS)
    },
    close() {
      for (const stop of stops) stop()
      clearTimeout(collecting)
      clearInterval(announcing)
    },
  }
}
