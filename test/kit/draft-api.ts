import { onTestFinished } from 'vitest'
import { draftRoutes } from '../../src/features/drafts/index.ts'
import { messageRoutes } from '../../src/features/messages/index.ts'
import { testServer } from './server.ts'
import type { SyncService } from './sync.ts'

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
      ...{ method, url, headers: { authorization: 'Bearer good', ...headers } },
      ...(body !== undefined && { payload: body }),
    })
    return { status: response.statusCode, json: response.json() }
  }
  return {
    accountId,
    request,
    get: (url: string) => request('GET', url),
    post: (url: string, body: object, headers?: object) => request('POST', url, body, headers),
    put: (url: string, body: object, headers?: object) => request('PUT', url, body, headers),
    remove: (url: string) => request('DELETE', url),
  }
}
