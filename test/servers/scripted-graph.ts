import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { MailAccess } from '../../src/providers/contract/index.ts'
import { microsoftAt } from './microsoft-mailbox.ts'

export interface ScriptedGraphRequest {
  method: string
  /** Below `/v1.0`, decoded, without the query. */
  path: string
  query: URLSearchParams
  prefer: string
  /** True for a part of a batch. */
  part: boolean
  body: unknown
}

export interface ScriptedGraphResponse {
  status?: number
  headers?: Record<string, string>
  body?: unknown
}

/** A Graph server that returns the responses of the test, for cases that the fake cannot produce. Each part of a batch is a request. */
export async function scriptedGraph(respond: (request: ScriptedGraphRequest) => ScriptedGraphResponse) {
  const asked: ScriptedGraphRequest[] = []
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk)
    const sent = Buffer.concat(chunks).toString()
    const body: unknown = sent === '' ? undefined : JSON.parse(sent)
    const url = new URL(req.url ?? '/', 'http://graph')
    const path = url.pathname.replace(/^\/v1\.0/, '')
    const prefer = String(req.headers.prefer ?? '')
    const request = { method: req.method ?? '', path: decodeURIComponent(path), query: url.searchParams, prefer }
    asked.push({ ...request, part: false, body })
    const response =
      path === '/$batch' ? { body: { responses: parts(body) } } : respond({ ...request, part: false, body })
    res.writeHead(response.status ?? 200, { 'content-type': 'application/json', ...response.headers })
    res.end(response.body === undefined ? '' : JSON.stringify(response.body))
  })

  function parts(body: unknown): object[] {
    const { requests } = body as {
      requests: { id: string; method: string; url: string; headers: { prefer: string } }[]
    }
    return requests.map(({ id, method, url, headers }) => {
      const at = new URL(url, 'http://graph')
      const path = decodeURIComponent(at.pathname)
      const part = { method, path, query: at.searchParams, prefer: headers.prefer, part: true, body: undefined }
      asked.push(part)
      const response = respond(part)
      return { id, status: response.status ?? 200, headers: response.headers ?? {}, body: response.body }
    })
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { mail, push, sending, contacts } = microsoftAt(url)
  const access: MailAccess = {
    accountId: 'acc_1',
    email: 'ada@example.test',
    settings: {},
    secrets: {},
    accessToken: async () => 'token',
  }
  onTestFinished(async () => {
    await mail.closeConnections()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url, mail, push, sending, contacts, access, asked, session: () => mail.openSession(access) }
}
