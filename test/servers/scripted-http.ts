import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ScriptedRequest {
  method: string
  /** With the query. */
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: string
}

export interface ScriptedResponse {
  status?: number
  headers?: Record<string, string>
  /** An object is sent as JSON. */
  body?: string | Buffer | object
}

/** An HTTP server with scripted responses, for responses that the fakes never send. */
export async function startScripted(
  respond: (request: ScriptedRequest) => ScriptedResponse | Promise<ScriptedResponse>,
) {
  const asked: ScriptedRequest[] = []
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const { method = '', url: path = '', headers } = req
    const query = new URL(path, 'http://here').searchParams
    const request = { method, path, query, headers, body: Buffer.concat(chunks).toString() }
    asked.push(request)
    const { status = 200, headers: more = {}, body = '' } = await respond(request)
    res.writeHead(status, more).end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
