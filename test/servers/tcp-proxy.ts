import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A cable that can be pulled: passes connections on to another server on loopback. */
export interface TcpProxy {
  port: number
  /** Cuts every connection and refuses new ones. */
  cut(): Promise<void>
  /** The connections there are pass nothing on any more, without a word; new ones do. */
  silence(): void
  /** Passes connections on again, at the same port. */
  mend(): Promise<void>
  close(): Promise<void>
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('error', () => other.destroy())
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listen(0)
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
    mend: () => listen(port).then(() => undefined),
    close: cut,
  }
}
