import type { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { type EventHead, eventFeed, findEvents, STAMPED_TOPIC } from '../../events/index.ts'
import type { Bus } from '../../infra/bus/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { Log } from '../../infra/log/index.ts'
import { AppError } from '../../lib/errors.ts'
import { Bell } from './bell.ts'
import { eventText } from './event-view.ts'

export interface StreamDeps {
  db: Db
  bus: Bus
  log: Log
  /** A silent stream says this often that it is alive, and looks for events by itself. Default 10,000. */
  heartbeatMs?: number
  /** A client that takes nothing for so long is cut off; it may come back and go on. Default 60,000. */
  stallMs?: number
  /** Streams open at a time, each with a place in the memory of this process. Default 100. */
  most?: number
}

const HEARTBEAT_MS = 10_000
const STALL_MS = 60_000
const MOST = 100
/** Browsers come back after this; ours wait longer when it fails again. */
const RECONNECT_MS = 1000
/** Looked at in one query, without data. */
const HEADS = 500
/** Read whole in one query: at most 4 MB. */
const EVENTS_AT_ONCE = 16

/**
 * Events as they happen, as server-sent events, to any number of clients at their own speed: each reads the store from its own
 * position, so a slow one costs one batch of memory and keeps nobody else waiting.
 */
export class EventStreams {
  readonly #deps: StreamDeps
  readonly #bell = new Bell()
  readonly #open = new Set<AbortController>()
  readonly #unsubscribe: () => void
  #closed = false

  constructor(deps: StreamDeps) {
    this.#deps = deps
    this.#unsubscribe = deps.bus.subscribe(STAMPED_TOPIC, () => this.#bell.ring())
  }

  /** Streams open now. */
  get size(): number {
    return this.#open.size
  }

  /**
   * From the event behind `position` on, those that `wants` says, until the client is `gone` (an emitter of 'close'). Throws
   * rate_limited, not_ready.
   */
  open(position: number, wants: (head: EventHead) => boolean, gone: EventEmitter): Readable {
    if (this.#closed) throw new AppError('not_ready')
    if (this.#open.size >= (this.#deps.most ?? MOST)) {
      throw new AppError('rate_limited', {
        message: 'Too many event streams are open. Close one, or try again later.',
        headers: { 'retry-after': '10' },
      })
    }
    const ending = new AbortController()
    this.#open.add(ending)
    const stream = Readable.from(
      this.#frames(position, wants, ending.signal, () => stream.destroy()),
      {
        objectMode: false,
      },
    )
    // Not the stream's own end: that waits for the generator, which waits for an event.
    gone.once('close', () => ending.abort())
    stream.once('close', () => this.#open.delete(ending))
    return stream
  }

  /** Ends every stream in order; clients come back, here or elsewhere, with the position they had. Twice safely. */
  close(): void {
    this.#closed = true
    this.#unsubscribe()
    for (const ending of this.#open) ending.abort()
  }

  async *#frames(
    position: number,
    wants: (head: EventHead) => boolean,
    signal: AbortSignal,
    cut: () => void,
  ): AsyncGenerator<string> {
    const { stallMs = STALL_MS } = this.#deps
    for await (const frame of this.#endless(position, wants, signal)) {
      const stall = setTimeout(cut, stallMs)
      try {
        yield frame
      } finally {
        clearTimeout(stall)
      }
    }
  }

  async *#endless(from: number, wants: (head: EventHead) => boolean, signal: AbortSignal): AsyncGenerator<string> {
    const { db, log, heartbeatMs = HEARTBEAT_MS } = this.#deps
    let position = from
    // At once, so that the client and proxies on the way see that the stream has begun.
    yield `retry: ${RECONNECT_MS}\nid: ${position}\n\n`
    try {
      while (!signal.aborted) {
        const rings = this.#bell.rings
        const heads = await eventFeed(db.read).heads(position, HEADS)
        const wanted = heads.filter(wants)
        for (let start = 0; start < wanted.length && !signal.aborted; start += EVENTS_AT_ONCE) {
          yield await this.#framesOf(wanted.slice(start, start + EVENTS_AT_ONCE))
        }
        position = heads.at(-1)?.position ?? position
        if (heads.length === HEADS) continue
        await this.#bell.after(rings, heartbeatMs, signal)
        // An id without data moves the client's Last-Event-ID past what it did not ask for.
        if (this.#bell.rings === rings && !signal.aborted) yield `: still here\nid: ${position}\n\n`
      }
    } catch (error) {
      log.warn('An event stream ended early; its client comes back.', { operation: 'events.stream', error })
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
        // Erased between the two queries.
        return event === undefined ? [] : [`id: ${position}\nevent: ${type}\ndata: ${eventText(event)}\n\n`]
      })
      .join('')
  }
}
