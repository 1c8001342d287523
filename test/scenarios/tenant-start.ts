import { expect } from 'vitest'
import type { Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http/http.ts'
import { startService } from '../kit/service/service.ts'
import { startMicrosoft } from '../servers/microsoft.ts'

const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const AT_ONCE = 20

/** Connects so many mailboxes of a tenant as fast as requests allow: with one token, and within the limits of each mailbox. */
export async function runTenantStart(place: Place, mailboxes: number): Promise<void> {
  const microsoft = await startMicrosoft()
  microsoft.latencyMs = 0
  const users = Array.from({ length: mailboxes }, (_, index) => `user-${index}@acme.example`)
  for (const user of users) microsoft.addUser(user, { tenant: TENANT })
  microsoft.applications.consent(TENANT)
  const { MICROSOFT_LOGIN_URL = '', MICROSOFT_GRAPH_URL = '' } = microsoft.settings
  const service = await startService({ place, environment: { MICROSOFT_LOGIN_URL, MICROSOFT_GRAPH_URL } })
  try {
    const client = api(service.url, service.key)
    const connection = await client.post('/connections', {
      provider: 'microsoft',
      kind: 'tenant',
      name: 'Acme',
      tenantId: TENANT,
      clientId: microsoft.client.id,
      clientSecret: 'tenant-secret',
    })
    const { id: connectionId } = connection.json
    for (let from = 0; from < users.length; from += AT_ONCE) {
      const some = users.slice(from, from + AT_ONCE)
      const created = await Promise.all(some.map((email) => client.post('/accounts', { connectionId, email })))
      expect(new Set(created.map(({ status }) => status))).toEqual(new Set([200]))
    }
    await eventually(async () =>
      expect((await client.get('/accounts?status=connected&limit=1')).json.pagination.total).toBe(mailboxes),
    )
    // One to check the credentials, and one for all mailboxes.
    expect(microsoft.applications.tokenRequests).toBe(2)
    const { all } = microsoft.calls
    expect(all.filter(({ status = 200 }) => [401, 429, 503].includes(status))).toEqual([])
    for (const user of users) expect(microsoft.peakConcurrency(user)).toBeLessThanOrEqual(4)
    // Graph allows 10,000 in ten minutes.
    expect(all.length / mailboxes).toBeLessThan(100)
    expect((await client.get(`/connections/${connectionId}`)).json.accountCount).toBe(mailboxes)
  } finally {
    await service.stop()
    await microsoft.close()
  }
}
