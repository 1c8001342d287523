import { createServer, type Socket } from 'node:net'

export interface Listener {
  port: number
  /** Also ends the connections. The port refuses connections afterwards. */
  close(): Promise<void>
}

/** A TCP server on a free port of 127.0.0.1 that does only what `greet` does. */
export function listening(greet: (socket: Socket) => void): Promise<Listener> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    greet(socket)
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve({
        port: typeof address === 'object' && address !== null ? address.port : 0,
        close() {
          for (const socket of sockets) socket.destroy()
          return new Promise((closed) => server.close(() => closed()))
        },
      })
    })
  })
}
