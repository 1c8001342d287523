import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'

/** Forwards connections to another server on loopback, and can interrupt or delay them. */
export interface TcpProxy {
  port: number
  /** Closes every connection and refuses new ones. */
  cut(): Promise<void>
  /** Existing connections stay open but transfer nothing. New ones work. */
  silence(): void
  /** Existing and new connections transfer nothing, until `thaw` transfers what has waited. */
  freeze(): void
  thaw(): void
  /** Delays all data in both directions. 0 ends the delay. */
  delay(ms: number): void
  /** Accepts connections again, at the same port. */
  restore(): Promise<void>
  close(): Promise<void>
}

/** `change` may alter what the server sends. */
export async function startTcpProxy(
  targetPort: number,
  change: (chunk: Buffer) => Buffer = (chunk) => chunk,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let delayMs = 0
  let frozen: { ended: Promise<void>; end(): void } | undefined
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket
        .pipe(held(() => frozen?.ended))
        .pipe(delayed(() => delayMs, socket === far ? change : undefined))
        .pipe(other)
      socket.on('error', () => other.destroy())
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  const port = await freePort()
  const listen = async () => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen()
  const cut = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    port,
    cut,
    silence() {
      for (const socket of sockets) socket.unpipe().pause()
    },
    freeze() {
      frozen = deferred()
    },
    thaw() {
      frozen?.end()
      frozen = undefined
    },
    delay(ms) {
      delayMs = ms
    },
    restore: listen,
    close: cut,
  }
}

function deferred(): { ended: Promise<void>; end(): void } {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { ended, end: () => end() }
}

/** Keeps each chunk until the end of a freeze. */
function held(freeze: () => Promise<void> | undefined): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const ended = freeze()
      if (ended === undefined) done(null, chunk)
      else void ended.then(() => done(null, chunk))
    },
  })
}

/** Delays each chunk and keeps their order. Chunks that arrive together are delayed together. */
function delayed(currentMs: () => number, change = (chunk: Buffer) => chunk): Transform {
  let last: Promise<void> | undefined
  let waiting = 0
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      const chunk = change(bytes)
      const delayMs = currentMs()
      if (delayMs === 0 && waiting === 0) return done(null, chunk)
      waiting += 1
      const due = sleep(delayMs)
      last = Promise.all([last, due]).then(() => {
        waiting -= 1
        this.push(chunk)
      })
      done()
    },
    flush(done) {
      void Promise.resolve(last).then(() => done())
    },
  })
}
