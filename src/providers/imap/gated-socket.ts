import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ImapTransport } from 'imapflow'
import type { ResponseGate } from './response-gate.ts'

export interface SocketEvents {
  /** Bytes arrived and passed the gate. */
  onData(bytes: number): void
  /** The gate refused what the server sent. Nothing of it, and nothing after it, reaches imapflow. */
  onRefused(error: unknown): void
}

/** Connects as imapflow does by itself, but everything that the server sends passes the gate first. */
export function gatedTransport(gate: ResponseGate, events: SocketEvents): ImapTransport {
  function gated<S extends Socket>(socket: S): S {
    let isRefused = false
    const push = socket.push.bind(socket)
    // Node passes everything that a socket reads through its `push`. A stream in between would cost memory for each connection.
    socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
      if (isRefused) return false
      if (!Buffer.isBuffer(chunk)) return push(chunk, encoding)
      try {
        const passed = gate.pass(chunk)
        events.onData(chunk.length)
        // A limit on the traffic may just have closed the connection.
        return socket.destroyed ? false : push(passed)
      } catch (error) {
        isRefused = true
        events.onRefused(error)
        return false
      }
    }
    return socket
  }
  return {
    connect: ({ secure, tls, ...target }, onConnect) =>
      gated(secure ? connectTls({ ...target, ...tls }, onConnect) : connectPlain(target, onConnect)),
    upgrade: (socket, { tls, ...target }, onSecure) => gated(connectTls({ ...target, ...tls, socket }, onSecure)),
  }
}
