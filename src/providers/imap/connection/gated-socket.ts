import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ImapTransport } from 'imapflow'
import type { FolderNames } from '../folders/folder-names.ts'
import type { RepeatedListing } from '../folders/repeated-listing.ts'
import type { IdlePoll } from './idle-poll.ts'
import type { ParserTurns, Parsing } from './parser-turns.ts'
import type { ResponseGate } from './response-gate.ts'

interface Gates {
  gate: ResponseGate
  listings: RepeatedListing
  idle: IdlePoll
  names: FolderNames
  turns: ParserTurns
  /** The connection is this socket now, which TLS may replace. What `send` writes is not reported as sent by imapflow. */
  onSocket(send: (text: string) => void): void
  /** Bytes arrived and passed the gate. */
  onData(bytes: number): void
  /** The gate refused what the server sent. Nothing of it, and nothing after it, reaches imapflow. */
  onRefused(error: unknown): void
}

/** Connects as imapflow does by itself, but everything that the server sends waits for its turn and passes the gate first. */
export function gatedTransport(gates: Gates): ImapTransport {
  const gated = <S extends Socket>(socket: S): S => {
    new GatedSocket(socket, gates)
    return socket
  }
  return {
    connect: ({ secure, tls, ...target }, onConnect) =>
      gated(secure ? connectTls({ ...target, ...tls }, onConnect) : connectPlain(target, onConnect)),
    upgrade: (socket, { tls, ...target }, onSecure) => gated(connectTls({ ...target, ...tls, socket }, onSecure)),
  }
}

const SLICE_BYTES = 2048
/** Estimates of the time that imapflow takes, in microseconds. */
const PER_LINE_US = 15
const PER_BYTE_US = 0.08

/**
 * Takes over what a socket reads, and sees what imapflow writes. Node passes what it read through `push`; a stream in between would cost
 * memory for each connection.
 */
class GatedSocket implements Parsing {
  readonly #socket: Socket
  readonly #gates: Gates
  readonly #push: Socket['push']
  readonly #read: Socket['_read']
  /** Received and not yet parsed; null is the end. Little, because the socket reads on only when all is parsed. */
  #received: (Buffer | null)[] = []
  #mustRead: number | undefined
  #isRefused = false

  constructor(socket: Socket, gates: Gates) {
    this.#socket = socket
    this.#gates = gates
    this.#push = socket.push.bind(socket)
    this.#read = socket._read.bind(socket)
    socket._read = (size) => {
      this.#mustRead = size
      this.#readOn()
    }
    socket.push = (chunk: unknown) => {
      if (this.#isRefused) return false
      this.#received.push(Buffer.isBuffer(chunk) ? chunk : null)
      gates.turns.add(this)
      return !this.hasMore
    }
    const write = socket.write.bind(socket) as (chunk: string | Uint8Array) => boolean
    socket.write = (chunk: string | Uint8Array) => {
      if (Buffer.isBuffer(chunk)) this.#sending(chunk)
      return write(chunk)
    }
    gates.onSocket(write)
    socket.once('close', () => this.#drop())
  }

  get hasMore(): boolean {
    return this.#received.length > 0
  }

  #sending(bytes: Buffer): void {
    this.#gates.idle.sending(bytes)
    this.#gates.listings.sending(bytes)
  }

  step(): number {
    const { gate, listings, idle, names } = this.#gates
    const [chunk] = this.#received
    if (chunk === undefined) return 0
    if (chunk === null) {
      this.#received.shift()
      this.#push(null)
      return PER_LINE_US
    }
    const slice = chunk.subarray(0, SLICE_BYTES)
    if (chunk.length <= SLICE_BYTES) this.#received.shift()
    else this.#received[0] = chunk.subarray(SLICE_BYTES)
    const linesBefore = gate.lines
    try {
      const passed = names.pass(listings.pass(idle.pass(gate.pass(slice))))
      this.#gates.onData(slice.length)
      // A limit on the traffic may just have closed the connection. An empty slice still makes the stream read on.
      if (!this.#socket.destroyed) this.#push(passed)
    } catch (error) {
      this.#isRefused = true
      this.#drop()
      this.#gates.onRefused(error)
    }
    this.#readOn()
    return PER_LINE_US * (1 + gate.lines - linesBefore) + PER_BYTE_US * slice.length
  }

  #readOn(): void {
    const size = this.#mustRead
    if (size === undefined || this.hasMore) return
    this.#mustRead = undefined
    this.#read(size)
  }

  #drop(): void {
    this.#received = []
    this.#gates.turns.remove(this)
  }
}
