import type { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'

/** The response on which a stream is sent. */
export interface StreamConnection extends EventEmitter {
  /** Bytes that wait for the socket. */
  readonly writableLength: number
}

/** Large frames are sent in pieces, so that a slow client is seen to make progress. */
const PIECE_BYTES = 64 * 1024

/** One response of server-sent events. What its client does not read waits in memory; `pendingBytes` says how much. */
export class EventStream {
  readonly owner: string
  /** The body of the response. */
  readonly body: Readable
  readonly #connection: StreamConnection
  readonly #onClose = new Set<() => void>()
  #onDemand = new Set<() => void>()
  #sentBytes = 0
  #hasEnded = false
  #isClosed = false

  constructor(owner: string, connection: StreamConnection) {
    this.owner = owner
    this.#connection = connection
    this.body = new Readable({ read: () => this.#resume() })
    // Fastify destroys the body only after the connection has closed, and not before the response has begun.
    connection.once('close', () => this.#close())
    this.body.once('close', () => this.#close())
  }

  /** False once the stream was ended, or its client has left. Nothing is sent then. */
  get isOpen(): boolean {
    return !this.#hasEnded && !this.#isClosed
  }

  get pendingBytes(): number {
    return this.body.readableLength + this.#connection.writableLength
  }

  /** Bytes that have left the process. */
  get deliveredBytes(): number {
    return this.#sentBytes - this.pendingBytes
  }

  /** Returns false when the client should read before more is sent: see `drained`. Never refuses. */
  send(frames: string | Buffer): boolean {
    if (!this.isOpen) return false
    const bytes = typeof frames === 'string' ? Buffer.from(frames) : frames
    this.#sentBytes += bytes.length
    let isReading = true
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      isReading = this.body.push(bytes.subarray(start, start + PIECE_BYTES))
    }
    return isReading
  }

  /** Resolves when the client has read what was sent, apart from what the socket holds, or when the stream has ended. */
  drained(): Promise<void> {
    if (!this.isOpen) return Promise.resolve()
    return new Promise((resolve) => this.#onDemand.add(resolve))
  }

  /** Ends the response after what was sent. Twice safely. */
  end(): void {
    if (!this.isOpen) return
    this.#hasEnded = true
    this.body.push(null)
    this.#resume()
    this.#callOnClose()
  }

  /** Closes the connection without sending what is pending. */
  destroy(): void {
    this.body.destroy()
  }

  /** Calls `run` once: when the stream ends or its client leaves, or now when either has happened. */
  onClose(run: () => void): void {
    if (this.isOpen) this.#onClose.add(run)
    else run()
  }

  #resume(): void {
    const waiting = this.#onDemand
    this.#onDemand = new Set()
    for (const resolve of waiting) resolve()
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#resume()
    this.#callOnClose()
  }

  #callOnClose(): void {
    const callbacks = [...this.#onClose]
    this.#onClose.clear()
    for (const run of callbacks) run()
  }
}
