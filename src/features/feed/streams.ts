import type { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { type EventHead, eventFeed, findEvents, STAMPED_TOPIC } from '../../events/index.ts'
import type { Bus } from '../../infra/bus/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { Log } from '../../infra/log/index.ts'
import { AppError } from '../../lib/errors.ts'
import { feedEventText } from './api.ts'

export interface StreamDeps {
  db: Db
  bus: Bus
  log: Log
  /** Interval at which an idle stream sends a comment and queries for events without a hint. Default 10,000. */
  heartbeatMs?: number
  /** A client that reads nothing for this long is disconnected; it may reconnect and continue. Default 60,000. */
  stallMs?: number
  /** Maximum number of open streams. Default 100. */
  maxStreams?: number
}

const HEARTBEAT_MS = 10_000
const STALL_MS = 60_000
const MAX_STREAMS = 100
/** Sent as `retry`: browsers reconnect after this delay. */
const RECONNECT_MS = 1000
/** Event heads per query. */
const HEADS_PER_QUERY = 500
/** Complete events per query: at most 4 MB. */
const EVENTS_PER_QUERY = 16

/**
 * Streams events to any number of clients at their own speed. Each client reads the store from its own position, so a slow one
 * costs one batch of memory and does not delay the others.
 */
export class EventStreams {
  readonly #deps: StreamDeps
  readonly #newEvents = new Condition()
  readonly #open = new Set<AbortController>()
  readonly #unsubscribe: () => void
  #closed = false

  constructor(deps: StreamDeps) {
    this.#deps = deps
    this.#unsubscribe = deps.bus.subscribe(STAMPED_TOPIC, () => this.#newEvents.signal())
  }

  /** Number of open streams. */
  get size(): number {
    return this.#open.size
  }

  /**
   * Streams the events after `position` that `wants` accepts, until `connection` emits 'close'. Throws rate_limited, and
   * not_ready after `close`.
   */
  open(position: number, wants: (head: EventHead) => boolean, connection: EventEmitter): Readable {
    if (this.#closed) throw new AppError('not_ready')
    if (this.#open.size >= (this.#deps.maxStreams ?? MAX_STREAMS)) {
      throw new AppError('rate_limited', {
        message: 'Too many event streams are open. Close one, or try again later.',
        headers: { 'retry-after': '10' },
      })
    }
    const ending = new AbortController()
    this.#open.add(ending)
    const stream = Readable.from(
      this.#cutWhenStalled(this.#frames(position, wants, ending.signal), () => stream.destroy()),
      { objectMode: false },
    )
    // The stream's own 'close' would come too late: it waits for the generator, which waits for an event.
    connection.once('close', () => ending.abort())
    stream.once('close', () => this.#open.delete(ending))
    return stream
  }

  /** Ends every stream. Clients reconnect to this or another replica with their last position. Twice safely. */
  close(): void {
    this.#closed = true
    this.#unsubscribe()
    for (const ending of this.#open) ending.abort()
  }

  async *#cutWhenStalled(frames: AsyncGenerator<string>, cut: () => void): AsyncGenerator<string> {
    const { stallMs = STALL_MS } = this.#deps
    for await (const frame of frames) {
      const stall = setTimeout(cut, stallMs)
      try {
        yield frame
      } finally {
        clearTimeout(stall)
      }
    }
  }

  async *#frames(from: number, wants: (head: EventHead) => boolean, signal: AbortSignal): AsyncGenerator<string> {
    const { db, log, heartbeatMs = HEARTBEAT_MS } = this.#deps
    let position = from
    // Sent immediately, so that the client and any proxies see that the stream has started.
    yield `retry: ${RECONNECT_MS}\nid: ${position}\n\n`
    try {
      while (!signal.aborted) {
        const seen = this.#newEvents.count
        const heads = await eventFeed(db.read).heads(position, HEADS_PER_QUERY)
        const wanted = heads.filter(wants)
        for (let start = 0; start < wanted.length && !signal.aborted; start += EVENTS_PER_QUERY) {
          yield await this.#framesOf(wanted.slice(start, start + EVENTS_PER_QUERY))
        }
        position = heads.at(-1)?.position ?? position
        if (heads.length === HEADS_PER_QUERY) continue
        await this.#newEvents.wait(seen, heartbeatMs, signal)
        // An id without data moves the client's Last-Event-ID past events it did not subscribe to.
        if (this.#newEvents.count === seen && !signal.aborted) yield `: keep-alive\nid: ${position}\n\n`
      }
    } catch (error) {
      log.warn('An event stream ended with an error. Its client will reconnect.', { operation: 'events.stream', error })
    }
  }

  async #framesOf(heads: readonly EventHead[]): Promise<string> {
    const events = await findEvents(
      this.#deps.db.read,
      heads.map((head) => head.id),
    )
    return heads
      .flatMap(({ id, type, position }) => {
        const event = events.get(id)
        // Undefined when the event was erased between the two queries.
        return event === undefined ? [] : [`id: ${position}\nevent: ${type}\ndata: ${feedEventText(event)}\n\n`]
      })
      .join('')
  }
}

/** A condition variable whose signals are counted, so that a signal before `wait` is not lost. */
class Condition {
  #count = 0
  #waiting = new Set<() => void>()

  get count(): number {
    return this.#count
  }

  signal(): void {
    this.#count += 1
    for (const wake of [...this.#waiting]) wake()
  }

  /** Resolves when there was a signal since `count` was `seen`, after `ms`, or when `abort` fires. Leaves no timer. */
  wait(seen: number, ms: number, abort: AbortSignal): Promise<void> {
    if (this.#count !== seen || abort.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        clearTimeout(timer)
        abort.removeEventListener('abort', wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      abort.addEventListener('abort', wake)
      this.#waiting.add(wake)
    })
  }
}
