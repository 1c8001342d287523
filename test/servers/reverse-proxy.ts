import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request and what was answered, as they passed by. */
export interface Exchange {
  method: string
  /** As the client asked, with the prefix. */
  path: string
  sent: string
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** A reverse proxy as operators put before the service: it serves it under a path, which it takes away. */
export interface ReverseProxy {
  /** With the path, without a slash at the end. */
  url: string
  readonly exchanges: Exchange[]
  /** Where the service is; it may be named after the proxy has begun. */
  target: string
  close(): Promise<void>
}

/** Nothing outside the prefix is passed on: it is 404, as another application's would be. */
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
    const onward = send(`${it.target}${path.slice(prefix.length)}`, { method, headers: incoming.headers }, (answer) => {
      const chunks: Buffer[] = []
      const { statusCode: status = 0, headers } = answer
      outgoing.writeHead(status, headers)
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        outgoing.write(chunk)
      })
      answer.on('end', () => {
        const texts = { sent: Buffer.concat(sent).toString(), body: Buffer.concat(chunks).toString() }
        exchanges.push({ method, path, status, headers, ...texts })
        outgoing.end()
      })
      answer.on('error', () => outgoing.destroy())
    })
    onward.on('error', () => outgoing.destroy())
    incoming.on('data', (chunk: Buffer) => sent.push(chunk))
    incoming.pipe(onward)
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
