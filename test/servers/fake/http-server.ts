import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request, whole; parts of a batch take the same form. */
export interface FakeRequest {
  method: string
  url: URL
  headers: Headers
  body: Buffer
  /** Aborted when the client went away. */
  gone: AbortSignal
}

/** `hang` never answers, `reset` cuts the connection. */
export type FakeResponse = Response | 'hang' | 'reset'

export interface HttpServer {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  url: string
  /** Cuts what is still open. Twice is as good as once. */
  close(): Promise<void>
}

/** A real HTTP server on loopback before a function that answers. */
export async function startHttpServer(
  answer: (request: FakeRequest) => Promise<FakeResponse>,
  port = 0,
): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    read(request, gone.signal)
      .then(answer)
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

async function read(request: IncomingMessage, gone: AbortSignal): Promise<FakeRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  const url = new URL(request.url ?? '/', `http://${request.headers.host ?? '127.0.0.1'}`)
  return { method: request.method ?? 'GET', url, headers, body: Buffer.concat(chunks), gone }
}

async function write(response: ServerResponse, answer: FakeResponse): Promise<void> {
  if (answer === 'hang') return
  if (answer === 'reset') {
    response.destroy()
    return
  }
  const body = Buffer.from(await answer.arrayBuffer())
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'transfer-encoding'))
  response.writeHead(answer.status, headers)
  response.end(body)
}
