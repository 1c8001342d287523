import type { EventEmitter } from 'node:events'
import type { Readable } from 'node:stream'
import { type EventHead, eventFeed, findEvents, STAMPED_TOPIC } from '../../events/index.ts'
import type { Bus } from '../../infra/bus/index.ts'
import type { Db } from '../../infra/db/index.ts'
import { RECONNECT_MS, type StreamLimits, StreamSlots } from '../../infra/http/index.ts'
import type { Log } from '../../infra/log/index.ts'
import { Condition } from '../../lib/condition.ts'
import { feedEventText } from './api.ts'

export interface StreamDeps extends StreamLimits {
  db: Db
  bus: Bus
  log: Log
  /** Interval at which an idle stream sends a comment and queries for events without a hint. Default 10,000. */
  heartbeatMs?: number
}

const HEARTBEAT_MS = 10_000
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
  readonly #slots: StreamSlots
  readonly #unsubscribe: () => void

  constructor(deps: StreamDeps) {
    this.#deps = deps
    this.#slots = new StreamSlots(deps)
    this.#unsubscribe = deps.bus.subscribe(STAMPED_TOPIC, () => this.#newEvents.signal())
  }

  /** Number of open streams. */
  get size(): number {
    return this.#slots.size
  }

  /**
   * Streams the events after `position` that `wants` accepts, until `connection` emits 'close'. Throws rate_limited, and
   * not_ready after `close`.
   */
  open(position: number, wants: (head: EventHead) => boolean, connection: EventEmitter): Readable {
    return this.#slots.open(connection, (signal) => this.#frames(position, wants, signal))
  }

  /** Ends every stream. Clients reconnect to this or another replica with their last position. Twice safely. */
  close(): void {
    this.#unsubscribe()
    this.#slots.close()
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
