import { onTestFinished } from 'vitest'
import { draftRoutes } from '../../../src/mail/drafts/index.ts'
import { messageRoutes } from '../../../src/mail/messages/index.ts'
import { testServer } from '../http/server.ts'
import type { SyncService } from '../mailbox/sync.ts'

/** Requests of the drafts API, with a key for everything. Closes with the test. */
export async function draftApi({ service, accountId }: { service: SyncService; accountId: string }) {
  const { drafts, idempotency, reader } = service
  const app = testServer({ idempotency })
  draftRoutes(app, { drafts, idempotency })
  messageRoutes(app, { reader })
  await app.ready()
  onTestFinished(() => app.close())

  async function request(method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: object, headers = {}) {
    const response = await app.inject({
      method,
      url,
      headers: { authorization: 'Bearer good', ...headers },
      ...(body !== undefined && { payload: body }),
    })
    return { status: response.statusCode, json: response.json() }
  }
  const raw = (url: string) => app.inject({ method: 'GET', url, headers: { authorization: 'Bearer good' } })

  /** Sends multipart/form-data. `files`: texts by the names of their parts. */
  async function upload(
    method: 'POST' | 'PUT',
    url: string,
    parts: { message: object; files: Record<string, string> },
  ) {
    const form = new FormData()
    form.append('message', JSON.stringify(parts.message))
    for (const [name, text] of Object.entries(parts.files)) form.append(name, new Blob([text]), `${name}.bin`)
    const body = new Response(form)
    const response = await app.inject({
      method,
      url,
      payload: Buffer.from(await body.arrayBuffer()),
      headers: { authorization: 'Bearer good', 'content-type': body.headers.get('content-type') ?? '' },
    })
    return { status: response.statusCode, json: response.json() }
  }

  return {
    accountId,
    request,
    raw,
    upload,
    get: (url: string) => request('GET', url),
    post: (url: string, body: object, headers?: object) => request('POST', url, body, headers),
    put: (url: string, body: object, headers?: object) => request('PUT', url, body, headers),
    remove: (url: string) => request('DELETE', url),
  }
}
