import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Document, operations } from '../kit/api/openapi.ts'
import { databases, describePostgres } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http/http.ts'
import { type ServiceOptions, startService } from '../kit/service/service.ts'

const CREDENTIALS = { username: 'operator', password: 'a long enough password' }
const SAFE = ['GET', 'HEAD']

async function started(options: ServiceOptions = {}) {
  const service = await startService(options)
  onTestFinished(() => service.stop())
  return { service, client: api(service.url) }
}

describe('the session of the portal', () => {
  it('opens every keyed operation: 401 without it, 403 for changes without the CSRF token', async () => {
    const environment = { ADMIN_USERNAME: CREDENTIALS.username, ADMIN_PASSWORD: CREDENTIALS.password }
    const { client } = await started({ environment })
    const { json, headers } = await client.post('/admin/session', CREDENTIALS)
    const cookie = { cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' }
    const document: Document = JSON.parse(await readFile('openapi.json', 'utf8'))
    const keyed = operations(document).filter((operation) => operation.keyed && !operation.path.endsWith('/stream'))
    expect(keyed.length).toBeGreaterThan(50)
    for (const { method, path } of keyed) {
      const send = async (more: Record<string, string>) => {
        const at = path.replaceAll(/\{\w+\}/g, 'nothing')
        const { status } = await client.request(method, at, {
          headers: more,
          ...(!SAFE.includes(method) && { body: '{' }),
        })
        return [method, path, status]
      }
      expect(await send({})).toEqual([method, path, 401])
      if (SAFE.includes(method)) continue
      expect(await send(cookie)).toEqual([method, path, 403])
      // Past every check of access: the body is not JSON, or the id is unknown.
      expect([400, 404]).toContain((await send({ ...cookie, 'x-csrf-token': json.csrfToken }))[2])
    }
    for (const path of ['/accounts', '/api-keys', '/logs']) expect((await client.get(path, cookie)).status).toBe(200)
  })

  it('leaves no requests of the portal in the log, and those of an application apart from it', async () => {
    const environment = {
      ADMIN_USERNAME: CREDENTIALS.username,
      ADMIN_PASSWORD: CREDENTIALS.password,
      LOG_LEVEL: 'info',
    }
    const { service, client } = await started({ environment, output: () => {} })
    const { headers } = await client.post('/admin/session', CREDENTIALS)
    const cookie = { cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' }
    const logged = async (query: string): Promise<string[]> => {
      const { json } = await client.get(`/logs?limit=200&${query}`, cookie)
      return json.logs.map(({ message }: { message: string }) => message)
    }
    await client.get('/admin')
    for (const path of ['/accounts', '/health/detailed', '/admin/overview', '/admin/unknown'])
      await client.get(path, cookie)
    const key = { authorization: `Bearer ${service.key}` }
    expect((await client.get('/accounts', key)).status).toBe(200)
    await eventually(async () => expect(await logged('operation=http.request')).toEqual(['GET /accounts 200']))
    expect(await logged('')).not.toContain('GET /accounts 200')
  })

  const open = databases('sqlite')
  it('begins with the password that the file store generated', async () => {
    const place = await open.place()
    const { client } = await started({ place })
    const password = (await readFile(join(place.dataDir, 'admin-password'), 'utf8')).trim()
    expect((await client.post('/admin/session', { username: 'admin', password })).status).toBe(200)
  })
})

describePostgres('the session of the portal', (open) => {
  it('does not exist without ADMIN_PASSWORD on PostgreSQL', async () => {
    const place = await open.place()
    await open(place)
    const { client } = await started({ place })
    for (const method of ['GET', 'POST', 'DELETE']) {
      const body = method === 'POST' ? { body: CREDENTIALS } : {}
      // Below /admin there are only pages, which say so.
      expect((await client.request(method, '/admin/session', body)).status).toBe(method === 'GET' ? 404 : 405)
    }
  })
})
