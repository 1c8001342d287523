import type { Readable } from 'node:stream'
import {
  type EventStream,
  RECONNECT_MS,
  type StreamConnection,
  type StreamLimits,
  StreamSlots,
} from '../../platform/http/index.ts'
import { type Log, type LogEntry, type LogFilter, type LogRing, matchesFilter } from '../../platform/log/index.ts'
import type { SharedLogs } from './replica-logs.ts'
import { replicaTail, type Tail, type TailDeps } from './tail.ts'

export interface LogStreamsDeps extends TailDeps, StreamLimits {
  log: Log
  ring: Pick<LogRing, 'onAdd'>
  logs: Pick<SharedLogs, 'select'>
}

interface LogStreamStart {
  filter: LogFilter
  /** The stream begins after the record with this id, by default with the next one. */
  after: string | undefined
  /** The caller whose number of streams is limited. */
  owner: string
  connection: StreamConnection
}

const MAX_STREAMS = 20
/** One key must not keep operators from the log. */
const MAX_PER_OWNER = 10
/** Records that wait for a client; of further ones, the oldest are dropped. */
const MAX_WAITING = 1000
/** Records that a client which reconnects gets from the rings. */
const MAX_REPLAYED = 1000
const RECORDS_PER_FRAME = 100
/** Records that follow each other closely share a write to each stream. */
const GATHER_MS = 100

interface Client {
  stream: EventStream
  filter: LogFilter
  waiting: WaitingRecords
  /** True while something is sent. What arrives meanwhile waits. */
  isSending: boolean
  /** The ids of records that were sent from the rings and may arrive again. */
  replayed: ReadonlySet<string>
}

/**
 * Streams new log records of all replicas to a bounded number of clients. A client that reads too slowly loses the oldest records
 * that wait for it, and gets an event `dropped` with their number.
 */
export class LogStreams {
  readonly #deps: LogStreamsDeps
  readonly #slots: StreamSlots
  readonly #tail: Tail
  readonly #clients = new Set<Client>()
  readonly #frames = new WeakMap<LogEntry, string>()
  readonly #stopReading: () => void
  #gathering: NodeJS.Timeout | undefined

  constructor(deps: LogStreamsDeps) {
    this.#deps = deps
    this.#slots = new StreamSlots({ maxStreams: MAX_STREAMS, maxPerOwner: MAX_PER_OWNER, ...deps }, deps.log)
    this.#tail = replicaTail(deps, (entries, dropped) => this.#receive(entries, dropped))
    this.#stopReading = deps.ring.onAdd((entry) => this.#receive([entry], 0))
  }

  /** Returns the body of the response. Throws as `StreamSlots.open`. */
  open({ filter, after, owner, connection }: LogStreamStart): Readable {
    return this.#slots.open({
      owner,
      connection,
      heartbeat: () => ': keep-alive\n\n',
      serve: (stream) => void this.#serve(stream, filter, after),
    })
  }

  /** Twice safely. */
  close(): void {
    this.#stopReading()
    this.#tail.close()
    this.#slots.close()
    clearTimeout(this.#gathering)
  }

  #receive(entries: readonly LogEntry[], dropped: number): void {
    if (this.#clients.size === 0) return
    for (const { filter, waiting } of this.#clients) {
      const wanted = entries.filter((entry) => matchesFilter(entry, filter))
      if (wanted.length > 0 || dropped > 0) waiting.add(wanted, dropped)
    }
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined
      for (const client of this.#clients) void this.#sendWaiting(client)
    }, GATHER_MS)
  }

  async #serve(stream: EventStream, filter: LogFilter, after: string | undefined): Promise<void> {
    const client: Client = {
      stream,
      filter,
      waiting: new WaitingRecords(),
      isSending: false,
      replayed: new Set(),
    }
    this.#clients.add(client)
    stream.onClose(() => {
      this.#clients.delete(client)
      this.#announce()
    })
    this.#announce()
    stream.send(`retry: ${RECONNECT_MS}\n\n`)
    if (after === undefined) return
    client.isSending = true
    try {
      const { entries } = await this.#deps.logs.select(filter, { after, limit: MAX_REPLAYED })
      client.replayed = new Set(entries.map(({ id }) => id))
      await this.#send(stream, entries.reverse())
    } catch (error) {
      this.#deps.log.warn('A log stream ended with an error. Its client will reconnect.', {
        operation: 'logs.stream',
        error,
      })
      stream.end()
    }
    client.isSending = false
    await this.#sendWaiting(client)
  }

  async #sendWaiting(client: Client): Promise<void> {
    const { stream, waiting, replayed } = client
    if (client.isSending) return
    client.isSending = true
    while (stream.isOpen && waiting.hasAny) {
      const { entries, dropped } = waiting.take()
      if (dropped > 0) stream.send(`event: dropped\ndata: ${JSON.stringify({ count: dropped })}\n\n`)
      await this.#send(
        stream,
        entries.filter(({ id }) => !replayed.has(id)),
      )
    }
    client.isSending = false
  }

  /** At the speed of the client. */
  async #send(stream: EventStream, entries: readonly LogEntry[]): Promise<void> {
    for (let start = 0; start < entries.length && stream.isOpen; start += RECORDS_PER_FRAME) {
      const part = entries.slice(start, start + RECORDS_PER_FRAME)
      if (!stream.send(part.map((entry) => this.#getFrame(entry)).join(''))) await stream.drained()
    }
  }

  /** A record is turned into text once for all clients. */
  #getFrame(entry: LogEntry): string {
    const cached = this.#frames.get(entry)
    if (cached !== undefined) return cached
    const frame = `id: ${entry.id}\nevent: log\ndata: ${JSON.stringify(entry)}\n\n`
    this.#frames.set(entry, frame)
    return frame
  }

  #announce(): void {
    this.#tail.watch([...this.#clients].map(({ filter }) => filter))
  }
}

/** The records that wait for one client. */
class WaitingRecords {
  #entries: LogEntry[] = []
  #dropped = 0

  get hasAny(): boolean {
    return this.#entries.length > 0 || this.#dropped > 0
  }

  add(entries: readonly LogEntry[], dropped: number): void {
    this.#entries.push(...entries)
    const excess = Math.max(0, this.#entries.length - MAX_WAITING)
    this.#entries.splice(0, excess)
    this.#dropped += dropped + excess
  }

  take(): { entries: LogEntry[]; dropped: number } {
    const taken = { entries: this.#entries, dropped: this.#dropped }
    this.#entries = []
    this.#dropped = 0
    return taken
  }
}
