import type { Readable } from 'node:stream'
import type { Bus } from '../../platform/bus/index.ts'
import { concurrencyLimit, type Limit } from '../../platform/concurrency/limit.ts'
import type { Db } from '../../platform/db/index.ts'
import {
  type EventStream,
  RECONNECT_MS,
  type StreamConnection,
  type StreamLimits,
  StreamSlots,
} from '../../platform/http/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { StreamFilter, Subscriber } from './audience.ts'
import { catchUp } from './catch-up.ts'
import { LiveReader } from './live-reader.ts'

export interface StreamDeps extends StreamLimits {
  db: Pick<Db, 'read'>
  bus: Bus
  log: Log
  /** How often events are read without a hint while streams are open. Default 10,000. */
  pollMs?: number
}

interface StreamStart {
  /** The stream begins after this position. */
  position: number
  /** True when the position was the end of the feed a moment ago. */
  isLatest: boolean
  filter: StreamFilter
  /** The caller whose number of streams is limited. */
  owner: string
  connection: StreamConnection
}

const POLL_MS = 10_000
const HEADS_PER_READ = 500
/** Reads at the same time for streams that begin in the past. */
const CATCHING_UP = 4

/**
 * Streams events to any number of clients. A stream that begins in the past catches up by reads of its own, at the speed of
 * its client. Then it joins the live streams, for which this instance reads each event once.
 */
export class EventStreams {
  readonly #db: Pick<Db, 'read'>
  readonly #log: Log
  readonly #slots: StreamSlots
  readonly #live: LiveReader
  readonly #limit: Limit = concurrencyLimit(CATCHING_UP)

  constructor(deps: StreamDeps) {
    this.#db = deps.db
    this.#log = deps.log
    this.#slots = new StreamSlots(deps, deps.log)
    this.#live = new LiveReader({
      db: deps.db,
      bus: deps.bus,
      log: deps.log,
      slots: this.#slots,
      headsPerRead: HEADS_PER_READ,
      pollMs: deps.pollMs ?? POLL_MS,
    })
  }

  /** Number of open streams. */
  get size(): number {
    return this.#slots.size
  }

  /** Returns the body of the response. Throws rate_limited, and not_ready after `close`. */
  open({ position, isLatest, filter, owner, connection }: StreamStart): Readable {
    let subscriber: Subscriber | undefined
    return this.#slots.open({
      owner,
      connection,
      // An id without data moves the client's Last-Event-ID past events it did not subscribe to.
      heartbeat: () => `: keep-alive\nid: ${subscriber?.position ?? position}\n\n`,
      serve: (stream) => {
        subscriber = { stream, filter, position }
        // Sent immediately, so that the client and any proxies see that the stream has started.
        stream.send(`retry: ${RECONNECT_MS}\nid: ${position}\n\n`)
        if (isLatest) this.#live.join(subscriber)
        else void this.#catchUp(stream, subscriber)
      },
    })
  }

  /** Ends every stream. Clients reconnect to this or another replica with their last position. Twice safely. */
  async close(): Promise<void> {
    this.#slots.close()
    await this.#live.close()
  }

  async #catchUp(stream: EventStream, subscriber: Subscriber): Promise<void> {
    try {
      await catchUp({ db: this.#db, limit: this.#limit, headsPerRead: HEADS_PER_READ }, subscriber)
      this.#live.join(subscriber)
    } catch (error) {
      if (!stream.isOpen) return
      this.#log.warn('An event stream ended with an error. Its client will reconnect.', {
        operation: 'events.stream',
        error,
      })
      stream.end()
    }
  }
}
