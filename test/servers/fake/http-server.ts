import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One complete request, or one part of a batch. */
export interface FakeRequest {
  method: string
  url: URL
  headers: Headers
  body: Buffer
  /** Aborts when the client disconnects. */
  signal: AbortSignal
}

/** `hang` never responds; `reset` closes the connection. */
export type FakeResponse = Response | 'hang' | 'reset'

export interface HttpServer {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  url: string
  /** Closes the server and every open connection. May be called twice. */
  close(): Promise<void>
}

/** A real HTTP server on loopback that calls `handle` for each request. */
export async function startHttpServer(
  handle: (request: FakeRequest) => Promise<FakeResponse>,
  port = 0,
): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const client = new AbortController()
    response.on('close', () => client.abort())
    read(request, client.signal)
      .then(handle)
      .catch((error: unknown) => Response.json({ error: `the fake failed: ${error}` }, { status: 500 }))
      .then((result) => write(response, result))
      .catch(() => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function read(request: IncomingMessage, signal: AbortSignal): Promise<FakeRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  const url = new URL(request.url ?? '/', `http://${request.headers.host ?? '127.0.0.1'}`)
  return { method: request.method ?? 'GET', url, headers, body: Buffer.concat(chunks), signal }
}

async function write(outgoing: ServerResponse, response: FakeResponse): Promise<void> {
  if (response === 'hang') return
  if (response === 'reset') {
    outgoing.destroy()
    return
  }
  const body = Buffer.from(await response.arrayBuffer())
  const headers = Object.fromEntries([...response.headers].filter(([name]) => name !== 'transfer-encoding'))
  outgoing.writeHead(response.status, headers)
  outgoing.end(body)
}
