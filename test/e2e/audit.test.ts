import { expect, it, onTestFinished } from 'vitest'
import type { Db } from '../../src/platform/db/index.ts'
import { describeEachDatabase } from '../kit/database/database.ts'
import { type Api, api } from '../kit/http/http.ts'
import { startService } from '../kit/service/service.ts'

const PASSWORD = 'a long enough password'
const SECRETS = ['whsec_bmV3IHNlY3JldCBvZiB0aGUgZW5kcG9pbnQ=', 'header-value-1234', PASSWORD]
const RECEIVER = 'http://127.0.0.1:9/hook?token=query-token-5678'
const DEDUPLICATION = '/cursor-sync/deduplication/config'
const EXPERIENCE = { slug: 'intro', name: 'Intro', timezone: 'Europe/Berlin' }

interface Entry {
  actor: string
  action: string
  target: string | null
  details: object
}

describeEachDatabase('the audit log', (open) => {
  async function started() {
    const place = await open.place()
    const service = await startService({ place, environment: { ADMIN_PASSWORD: PASSWORD } })
    onTestFinished(() => service.stop())
    const owner = api(service.url, service.key)
    const entries = async (query = ''): Promise<Entry[]> => (await owner.get(`/audit${query}`)).json.entries
    return { service, owner, entries, database: () => open(place) }
  }

  it('has each change with its actor, and none that was refused or repeated', async () => {
    const { service, owner, entries } = await started()
    const made = (await owner.post('/api-keys', { name: 'Deploy', scopes: ['write'] })).json
    const deploy = api(service.url, made.key)
    const actor = `key:${made.id}`
    const endpoint = (
      await deploy.post('/webhooks/endpoints', { url: RECEIVER, eventTypes: ['*'], headers: { 'x-key': SECRETS[1] } })
    ).json
    const at = `/webhooks/endpoints/${endpoint.id}`
    await deploy.put(at, { retryCount: 1, unknown: 'x' })
    await deploy.put(at, { secret: SECRETS[0] })
    await deploy.post(`${at}/recover`, { since: '2026-01-01T00:00:00Z' })
    await deploy.post(DEDUPLICATION, { ttlSeconds: 60 }, { 'idempotency-key': 'once' })
    await deploy.post(DEDUPLICATION, { ttlSeconds: 60 }, { 'idempotency-key': 'once' })
    await deploy.put('/historical-sync/config', { batchSize: 10 })
    await deploy.post('/debounced-queue/clear')
    await deploy.post('/scheduler/experiences', EXPERIENCE)
    await deploy.patch('/scheduler/experiences/intro', { isActive: false })
    await deploy.delete(at)
    for (const refused of [
      await deploy.delete(at),
      await deploy.put(at, { retryCount: 'x' }),
      await deploy.post('/api-keys', { name: 'x', scopes: ['read'] }),
      await deploy.post('/scheduler/experiences', EXPERIENCE),
      await deploy.post(DEDUPLICATION, { ttlSeconds: 1 }),
    ]) {
      expect(refused.status).toBeGreaterThanOrEqual(400)
    }
    await owner.delete(`/api-keys/${made.id}`)
    const session = await signIn(service.url, PASSWORD)
    await signIn(service.url, 'wrong')
    await session.request('DELETE', '/admin/session')

    const found = await entries()
    expect(found.toReversed().map(({ actor: by, action, target, details }) => [by, action, target, details])).toEqual([
      ['service', 'key.created', made.id, { name: 'Deploy', scopes: ['write'], expiresAt: null }],
      [actor, 'endpoint.created', endpoint.id, { changed: ['url', 'eventTypes', 'headers'] }],
      [actor, 'endpoint.updated', endpoint.id, { changed: ['retryCount'] }],
      [actor, 'endpoint.secret_rotated', endpoint.id, { changed: ['secret'] }],
      [actor, 'endpoint.recovered', endpoint.id, { since: '2026-01-01T00:00:00Z' }],
      [actor, 'deduplication.configured', null, { ttlSeconds: 60 }],
      [actor, 'backfill.configured', null, { changed: ['batchSize'] }],
      [actor, 'queue.cleared', null, {}],
      [actor, 'experience.created', 'intro', { changed: ['slug', 'name', 'timezone'] }],
      [actor, 'experience.updated', 'intro', { changed: ['isActive'] }],
      [actor, 'endpoint.deleted', endpoint.id, {}],
      ['service', 'key.revoked', made.id, { name: 'Deploy' }],
      ['admin:admin', 'portal.signed_in', null, {}],
      ['public', 'portal.sign_in_failed', null, { username: 'admin' }],
      ['admin:admin', 'portal.signed_out', null, {}],
    ])
    for (const entry of found) {
      expect(entry).toMatchObject({ requestId: expect.stringMatching(/^req_/), address: '127.0.0.1' })
    }
    const text = JSON.stringify(found)
    for (const secret of [...SECRETS, made.key, service.key, 'query-token']) expect(text).not.toContain(secret)

    const actions = (some: Entry[]) => some.map(({ action }) => action)
    expect(actions(await entries('?actor=service'))).toEqual(['key.revoked', 'key.created'])
    expect(actions(await entries(`?target=${endpoint.id}&action=endpoint.deleted`))).toEqual(['endpoint.deleted'])
    expect(await entries('?since=2999-01-01T00:00:00Z')).toEqual([])
    const { entries: first, pagination } = (await owner.get('/audit?limit=3')).json
    const { entries: second } = (await owner.get(`/audit?limit=20&cursor=${pagination.nextCursor}`)).json
    expect([pagination.total, [...first, ...second]]).toEqual([15, found])
  })

  it('is written with the change: when it cannot be, nothing changes', async () => {
    const { service, owner, database } = await started()
    const key = (await owner.post('/api-keys', { name: 'Deploy', scopes: ['read'] })).json
    const endpoint = (await owner.post('/webhooks/endpoints', { url: RECEIVER })).json
    await owner.post('/scheduler/experiences', EXPERIENCE)
    const state = async () => {
      const paths = [
        '/api-keys',
        '/webhooks/endpoints',
        DEDUPLICATION,
        '/historical-sync/config',
        '/scheduler/experiences',
      ]
      return Promise.all(paths.map(async (path) => (await owner.get(path)).json))
    }
    const before = await state()
    await dropEntries(await database())
    for (const [method, path, body] of [
      ['POST', '/api-keys', { name: 'x', scopes: ['read'] }],
      ['DELETE', `/api-keys/${key.id}`],
      ['POST', '/webhooks/endpoints', { url: RECEIVER }],
      ['PUT', `/webhooks/endpoints/${endpoint.id}`, { retryCount: 1 }],
      ['DELETE', `/webhooks/endpoints/${endpoint.id}`],
      ['POST', DEDUPLICATION, { ttlSeconds: 60 }],
      ['PUT', '/historical-sync/config', { batchSize: 10 }],
      ['POST', '/scheduler/experiences', { ...EXPERIENCE, slug: 'another' }],
      ['PATCH', '/scheduler/experiences/intro', { name: 'Changed' }],
    ] as const) {
      const { status } = await owner.request(method, path, body === undefined ? {} : { body })
      expect([method, path, status]).toEqual([method, path, 500])
    }
    await expect(signIn(service.url, PASSWORD)).rejects.toThrow('500')
    expect(await state()).toEqual(before)
    expect((await api(service.url, key.key).get('/accounts')).status).toBe(200)
  })
})

async function dropEntries(db: Db): Promise<void> {
  await db.transaction((tx) => tx.schema.dropTable('auditEntries').execute())
}

/** A client of the portal. */
async function signIn(url: string, password: string): Promise<Pick<Api, 'request'>> {
  const client = api(url)
  const { status, json, headers } = await client.post('/admin/session', { username: 'admin', password })
  if (status >= 500) throw new Error(String(status))
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? ''
  return {
    request: (method, path) =>
      client.request(method, path, { headers: { cookie, 'x-csrf-token': String(json.csrfToken) } }),
  }
}
