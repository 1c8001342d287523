import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One proxied request with its response. */
export interface Exchange {
  method: string
  /** As requested, with the prefix. */
  path: string
  sent: string
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** A reverse proxy as operators use it. Serves the target under a path, which it strips. */
export interface ReverseProxy {
  /** With the path, without a trailing slash. */
  url: string
  readonly exchanges: Exchange[]
  /** The URL of the target. Can be set after the start. */
  target: string
  close(): Promise<void>
}

/** Returns 404 outside the prefix. */
export async function startProxy(prefix = ''): Promise<ReverseProxy> {
  const exchanges: Exchange[] = []
  const server = createServer((incoming, outgoing) => {
    const { method = '', url: path = '' } = incoming
    if (!path.startsWith(`${prefix}/`)) {
      incoming.resume()
      outgoing.writeHead(404, { 'content-type': 'text/plain' }).end('another application')
      return
    }
    const sent: Buffer[] = []
    const forwarded = send(
      `${it.target}${path.slice(prefix.length)}`,
      { method, headers: incoming.headers },
      (reply) => {
        const chunks: Buffer[] = []
        const { statusCode: status = 0, headers } = reply
        outgoing.writeHead(status, headers)
        reply.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          outgoing.write(chunk)
        })
        reply.on('end', () => {
          const texts = { sent: Buffer.concat(sent).toString(), body: Buffer.concat(chunks).toString() }
          exchanges.push({ method, path, status, headers, ...texts })
          outgoing.end()
        })
        reply.on('error', () => outgoing.destroy())
      },
    )
    forwarded.on('error', () => outgoing.destroy())
    // An event stream has no end of its own.
    outgoing.on('close', () => forwarded.destroy())
    incoming.on('data', (chunk: Buffer) => sent.push(chunk))
    incoming.pipe(forwarded)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const it: ReverseProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    exchanges,
    target: '',
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  return it
}
