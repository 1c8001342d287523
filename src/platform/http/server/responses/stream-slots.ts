import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../errors/app-error.ts'
import type { Log } from '../../../log/index.ts'
import { EventStream, type StreamConnection } from './event-stream.ts'

export interface StreamLimits {
  /** Maximum number of open streams. Default 2,000. */
  maxStreams?: number | undefined
  /** Maximum number of open streams of one caller. Default 100. */
  maxPerOwner?: number | undefined
  /** A client that reads nothing for this long is disconnected; it may reconnect and continue. Default 60,000. */
  stallMs?: number | undefined
  /** Interval at which each stream gets a comment, the first one within two. Default 15,000. */
  heartbeatMs?: number | undefined
}

interface StreamRequest {
  owner: string
  connection: StreamConnection
  /** The frame that a stream gets at each heartbeat. */
  heartbeat(): string
  /** Sends until the stream ends. Must not throw or reject. */
  serve(stream: EventStream): void
}

const MAX_STREAMS = 2000
const MAX_PER_OWNER = 100
const STALL_MS = 60_000
const HEARTBEAT_MS = 15_000
/** Turns of the timer in which every stream is visited once. */
const TURNS = 20
/** A client with more than this waiting for it does not get more. */
const MAX_PENDING_BYTES = 1024 * 1024
/** Detects dead clients of streams on which nothing is due. */
const TCP_KEEP_ALIVE_MS = 60_000
/** Sent as `retry`: browsers reconnect after this delay. */
export const RECONNECT_MS = 1000
/** Sent before the end of a stream whose client reads too slowly. */
const TOO_SLOW = `: This client reads too slowly, so the stream ends here. Reconnect with Last-Event-ID: you miss nothing.\nretry: ${RECONNECT_MS}\n\n`

/** The result of a stream's last visit. */
interface Visit {
  heartbeat(): string
  deliveredBytes: number
  /** Visits in a row in which the client had something to read and read nothing. */
  stalled: number
}

/**
 * The open responses of server-sent events of one kind, a bounded number in total and per caller. One timer serves all: it
 * visits a part of them per turn, so that they do not all wake at once, sends heartbeats, and disconnects clients that do
 * not read.
 */
export class StreamSlots {
  readonly #maxStreams: number
  readonly #maxPerOwner: number
  /** The time in which every stream is visited once. */
  readonly #roundMs: number
  /** The number of visits without progress after which a client is too slow. */
  readonly #stalledVisits: number
  readonly #log: Log
  readonly #open = new Map<EventStream, Visit>()
  readonly #perOwner = new Map<string, number>()
  /** Streams of this round that were not visited yet. */
  #round: Iterator<[EventStream, Visit]>
  #turn = 0
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(limits: StreamLimits, log: Log) {
    const { maxStreams = MAX_STREAMS, maxPerOwner = MAX_PER_OWNER, stallMs = STALL_MS } = limits
    this.#maxStreams = maxStreams
    this.#maxPerOwner = maxPerOwner
    this.#roundMs = Math.min(limits.heartbeatMs ?? HEARTBEAT_MS, stallMs / 2)
    this.#stalledVisits = Math.ceil(stallMs / this.#roundMs)
    this.#log = log
    this.#round = this.#open.entries()
  }

  get size(): number {
    return this.#open.size
  }

  /** Returns the body of the response. Throws rate_limited, and not_ready after `close`. */
  open({ owner, connection, heartbeat, serve }: StreamRequest): Readable {
    if (this.#closed) throw new AppError('not_ready')
    this.#check(owner)
    const stream = new EventStream(owner, connection)
    this.#open.set(stream, { heartbeat, deliveredBytes: 0, stalled: 0 })
    this.#perOwner.set(owner, this.#countOpen(owner) + 1)
    // An ended stream keeps its slot until the client has read the rest.
    stream.body.once('close', () => this.#remove(stream))
    connection.once('close', () => this.#remove(stream))
    this.#timer ??= setInterval(() => this.#visitSome(), this.#roundMs / TURNS)
    serve(stream)
    return stream.body
  }

  /** Sends frames that do not wait for the client. Ends the stream when too much is pending already: its client reconnects. */
  push(stream: EventStream, frames: Buffer): void {
    if (stream.pendingBytes <= MAX_PENDING_BYTES) stream.send(frames)
    else this.#drop(stream)
  }

  /** Ends every stream. Clients reconnect to this or another replica. Twice safely. */
  close(): void {
    this.#closed = true
    for (const stream of this.#open.keys()) stream.end()
    clearInterval(this.#timer)
  }

  #check(owner: string): void {
    const headers = { 'retry-after': '10' }
    if (this.#countOpen(owner) >= this.#maxPerOwner) {
      throw new AppError('rate_limited', {
        message: `Too many streams are open with this key: at most ${this.#maxPerOwner} on each instance. Close one, or try again later.`,
        headers,
      })
    }
    if (this.#open.size >= this.#maxStreams) {
      throw new AppError('rate_limited', {
        message: `Too many streams are open: this instance serves ${this.#maxStreams}. Close one, or try again later.`,
        headers,
      })
    }
  }

  #countOpen(owner: string): number {
    return this.#perOwner.get(owner) ?? 0
  }

  #remove(stream: EventStream): void {
    if (!this.#open.delete(stream)) return
    const left = this.#countOpen(stream.owner) - 1
    if (left > 0) this.#perOwner.set(stream.owner, left)
    else this.#perOwner.delete(stream.owner)
    if (this.#open.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #visitSome(): void {
    if (this.#turn === 0) this.#round = this.#open.entries()
    this.#turn = (this.#turn + 1) % TURNS
    for (let count = Math.ceil(this.#open.size / TURNS); count > 0; count -= 1) {
      const next = this.#round.next()
      if (next.done === true) return
      this.#visit(...next.value)
    }
  }

  #visit(stream: EventStream, visit: Visit): void {
    if (stream.pendingBytes === 0) {
      visit.stalled = 0
      stream.send(visit.heartbeat())
      return
    }
    const { deliveredBytes } = stream
    visit.stalled = deliveredBytes > visit.deliveredBytes ? 0 : visit.stalled + 1
    visit.deliveredBytes = deliveredBytes
    if (visit.stalled >= 2 * this.#stalledVisits) stream.destroy()
    else if (visit.stalled >= this.#stalledVisits) this.#drop(stream)
  }

  #drop(stream: EventStream): void {
    if (!stream.isOpen) return
    stream.send(TOO_SLOW)
    stream.end()
    this.#log.info('Ended a stream, because its client reads too slowly. It may reconnect and continue.', {
      operation: 'http.stream',
      metadata: { owner: stream.owner },
    })
  }
}

/** Responds with the body of a stream of `StreamSlots`. */
export function sendEventStream(request: FastifyRequest, reply: FastifyReply, body: Readable): FastifyReply {
  request.raw.socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS)
  return reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store, no-transform')
    .header('x-accel-buffering', 'no')
    .send(body)
}
