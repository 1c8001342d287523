import type { EventEmitter } from 'node:events'
import type { Readable } from 'node:stream'
import { RECONNECT_MS, type StreamLimits, StreamSlots } from '../../infra/http/index.ts'
import { type LogEntry, type LogFilter, type LogRing, matchesFilter } from '../../infra/log/index.ts'
import { Condition } from '../../lib/condition.ts'
import type { SharedLogs } from './replica-logs.ts'
import { replicaTail, type Tail, type TailDeps } from './tail.ts'

export interface LogStreamsDeps extends TailDeps, StreamLimits {
  ring: Pick<LogRing, 'onAdd'>
  logs: Pick<SharedLogs, 'select'>
  /** Interval at which an idle stream sends a comment. Default 10,000. */
  heartbeatMs?: number
}

const HEARTBEAT_MS = 10_000
const MAX_STREAMS = 20
/** Records that wait for a client; of further ones, the oldest are dropped. */
const MAX_WAITING = 1000
/** Records that a client which reconnects gets from the rings. */
const MAX_REPLAYED = 1000
const RECORDS_PER_FRAME = 100

/**
 * Streams new log records of all replicas to a bounded number of clients. A client that reads too slowly loses the oldest records
 * that wait for it, and gets an event `dropped` with their number.
 */
export class LogStreams {
  readonly #deps: LogStreamsDeps
  readonly #slots: StreamSlots
  readonly #tail: Tail
  readonly #clients = new Set<{ filter: LogFilter; queue: WaitingRecords }>()
  readonly #stopReading: () => void

  constructor(deps: LogStreamsDeps) {
    this.#deps = deps
    this.#slots = new StreamSlots({ maxStreams: MAX_STREAMS, ...deps })
    this.#tail = replicaTail(deps, (entries, dropped) => this.#receive(entries, dropped))
    this.#stopReading = deps.ring.onAdd((entry) => this.#receive([entry], 0))
  }

  /** Streams the records after the one with the id `after`, by default only new ones. Throws as `StreamSlots.open`. */
  open(filter: LogFilter, after: string | undefined, connection: EventEmitter): Readable {
    return this.#slots.open(connection, (signal) => this.#frames(filter, after, signal))
  }

  /** Twice safely. */
  close(): void {
    this.#stopReading()
    this.#tail.close()
    this.#slots.close()
  }

  #receive(entries: readonly LogEntry[], dropped: number): void {
    for (const { filter, queue } of this.#clients) {
      const wanted = entries.filter((entry) => matchesFilter(entry, filter))
      if (wanted.length > 0 || dropped > 0) queue.add(wanted, dropped)
    }
  }

  async *#frames(filter: LogFilter, after: string | undefined, signal: AbortSignal): AsyncGenerator<string> {
    const { logs, heartbeatMs = HEARTBEAT_MS } = this.#deps
    const queue = new WaitingRecords()
    const client = { filter, queue }
    this.#clients.add(client)
    this.#announce()
    try {
      yield `retry: ${RECONNECT_MS}\n\n`
      const sent = new Set<string>()
      if (after !== undefined) {
        const { entries } = await logs.select(filter, { after, limit: MAX_REPLAYED })
        for (const { id } of entries) sent.add(id)
        yield* inFrames(entries.reverse())
      }
      while (!signal.aborted) {
        const seen = queue.added.count
        const { entries, dropped } = queue.take()
        if (dropped > 0) yield `event: dropped\ndata: ${JSON.stringify({ count: dropped })}\n\n`
        yield* inFrames(entries.filter(({ id }) => !sent.has(id)))
        if (entries.length > 0) continue
        await queue.added.wait(seen, heartbeatMs, signal)
        if (queue.added.count === seen && !signal.aborted) yield ': keep-alive\n\n'
      }
    } finally {
      this.#clients.delete(client)
      this.#announce()
    }
  }

  #announce(): void {
    this.#tail.watch([...this.#clients].map(({ filter }) => filter))
  }
}

/** The records that wait for one client. */
class WaitingRecords {
  readonly added = new Condition()
  #entries: LogEntry[] = []
  #dropped = 0

  add(entries: readonly LogEntry[], dropped: number): void {
    this.#entries.push(...entries)
    const excess = Math.max(0, this.#entries.length - MAX_WAITING)
    this.#entries.splice(0, excess)
    this.#dropped += dropped + excess
    this.added.signal()
  }

  take(): { entries: LogEntry[]; dropped: number } {
    const taken = { entries: this.#entries, dropped: this.#dropped }
    this.#entries = []
    this.#dropped = 0
    return taken
  }
}

function* inFrames(entries: readonly LogEntry[]): Generator<string> {
  for (let start = 0; start < entries.length; start += RECORDS_PER_FRAME) {
    yield entries
      .slice(start, start + RECORDS_PER_FRAME)
      .map((entry) => `id: ${entry.id}\nevent: log\ndata: ${JSON.stringify(entry)}\n\n`)
      .join('')
  }
}
