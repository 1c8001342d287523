import type { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../lib/errors.ts'

export interface StreamLimits {
  /** Maximum number of open streams. Default 100. */
  maxStreams?: number | undefined
  /** A client that reads nothing for this long is disconnected; it may reconnect and continue. Default 60,000. */
  stallMs?: number | undefined
}

const MAX_STREAMS = 100
const STALL_MS = 60_000
/** Detects dead clients of streams on which nothing is due. */
const TCP_KEEP_ALIVE_MS = 60_000
/** Sent as `retry`: browsers reconnect after this delay. */
export const RECONNECT_MS = 1000

/** The open responses of server-sent events of one kind: a bounded number, each at the speed of its client. */
export class StreamSlots {
  readonly #limits: StreamLimits
  readonly #open = new Set<AbortController>()
  #closed = false

  constructor(limits: StreamLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#open.size
  }

  /** Streams the frames until `connection` emits 'close', which fires their signal. Throws rate_limited, and not_ready after `close`. */
  open(connection: EventEmitter, frames: (signal: AbortSignal) => AsyncGenerator<string>): Readable {
    if (this.#closed) throw new AppError('not_ready')
    if (this.#open.size >= (this.#limits.maxStreams ?? MAX_STREAMS)) {
      throw new AppError('rate_limited', {
        message: 'Too many event streams are open. Close one, or try again later.',
        headers: { 'retry-after': '10' },
      })
    }
    const ending = new AbortController()
    this.#open.add(ending)
    const stream = Readable.from(
      this.#cutWhenStalled(frames(ending.signal), () => stream.destroy()),
      { objectMode: false },
    )
    // The stream's own 'close' would come too late: it waits for the generator, which waits for an event.
    connection.once('close', () => ending.abort())
    stream.once('close', () => this.#open.delete(ending))
    return stream
  }

  /** Ends every stream. Clients reconnect to this or another replica. Twice safely. */
  close(): void {
    this.#closed = true
    for (const ending of this.#open) ending.abort()
  }

  async *#cutWhenStalled(frames: AsyncGenerator<string>, cut: () => void): AsyncGenerator<string> {
    const { stallMs = STALL_MS } = this.#limits
    for await (const frame of frames) {
      const stall = setTimeout(cut, stallMs)
      try {
        yield frame
      } finally {
        clearTimeout(stall)
      }
    }
  }
}

/** Responds with a stream of `StreamSlots`. */
export function sendEventStream(request: FastifyRequest, reply: FastifyReply, stream: Readable): FastifyReply {
  request.raw.socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS)
  return reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store, no-transform')
    .header('x-accel-buffering', 'no')
    .send(stream)
}
