import { onTestFinished } from 'vitest'
import { labelChangeRoutes, labelRoutes } from '../../../src/mail/labels/index.ts'
import { messageChangeRoutes, messageRoutes } from '../../../src/mail/messages/index.ts'
import type { Db } from '../../../src/platform/db/index.ts'
import { testServer } from '../http/server.ts'
import type { SyncService } from '../mailbox/sync.ts'

/** Requests of the messages API of one account, with a key for everything. Closes with the test. */
export async function messageApi({ db, service, accountId }: { db: Db; service: SyncService; accountId: string }) {
  const { accounts, changer, idempotency, labels, reader } = service
  const app = testServer({ idempotency })
  messageRoutes(app, { reader })
  messageChangeRoutes(app, { reader, changer, idempotency })
  labelRoutes(app, { db, accounts, changer: labels })
  labelChangeRoutes(app, { changer: labels, idempotency })
  await app.ready()
  onTestFinished(() => app.close())

  async function request(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, key = 'good') {
    const response = await app.inject({
      method,
      url: `/accounts/${accountId}${path}`,
      headers: { authorization: `Bearer ${key}` },
      ...(body !== undefined && { payload: body }),
    })
    return { status: response.statusCode, json: response.json() }
  }
  return {
    request,
    get: (path: string) => request('GET', path),
    patch: (id: string, body: object) => request('PATCH', `/messages/${id}`, body),
    remove: (id: string, query = '') => request('DELETE', `/messages/${id}${query}`),
    batch: (body: object) => request('POST', '/messages/batch', body),
    /** Our id of the label with this provider id. */
    async label(providerId: string): Promise<string> {
      const { json } = await request('GET', '/labels?includeSystem=true&limit=200')
      const found = json.labels.find((label: { providerId: string }) => label.providerId === providerId)
      if (found === undefined) throw new Error(`there is no label ${providerId}`)
      return found.id
    },
  }
}
