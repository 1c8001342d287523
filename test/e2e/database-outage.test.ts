import { readFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { type Document, operations, sample } from '../kit/api/openapi.ts'
import { closing } from '../kit/closing.ts'
import { describePostgres, type Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http/http.ts'
import { startServiceProcess } from '../kit/service/process.ts'
import { startTcpProxy } from '../servers/tcp-proxy.ts'

const document: Document = JSON.parse(await readFile('openapi.json', 'utf8'))
const filled = (path: string) => path.replaceAll(/\{(\w+)\}/g, 'nothing_00000000')
/** All routes except streams, which send nothing before their first event. */
const routes = operations(document).filter(({ path }) => !path.endsWith('/stream'))

/** The same database behind a proxy that can cut its connections. */
async function behindProxy(place: Place) {
  const url = new URL(place.databaseUrl ?? '')
  const proxy = closing(await startTcpProxy(Number(url.port)))
  url.port = String(proxy.port)
  return { proxy, place: { ...place, databaseUrl: url.href } }
}

describePostgres('while PostgreSQL is unreachable', (open) => {
  it('every route returns 503 or works without the database, and recovers with it', async () => {
    const { proxy, place } = await behindProxy(await open.place())
    const service = await startServiceProcess(place)
    onTestFinished(() => service.stop().then(() => undefined))
    const client = api(service.url, service.key)
    const endpoint = { url: 'https://127.0.0.1/hook' }
    expect((await client.get('/accounts')).status).toBe(200)

    await proxy.cut()
    for (const { method, path, body } of routes) {
      const named = `${method} ${path}`
      const response = await client.request(method, filled(path), {
        headers: { accept: 'application/json', ...(method === 'POST' && { 'idempotency-key': `key ${path}` }) },
        ...(body !== undefined && { body: sample(body, document) }),
      })
      expect([named, response.status]).not.toEqual([named, 500])
      if (response.status !== 503) continue
      const code = path === '/health/ready' ? 'not_ready' : 'database_unavailable'
      expect([named, response.json.error.code]).toEqual([named, code])
      expect(Number(response.headers.get('retry-after')), named).toBeGreaterThan(0)
    }
    for (const response of [
      await client.get('/accounts'),
      await client.get('/accounts/acc_none/messages'),
      await client.get('/webhooks/deliveries'),
      await client.post('/webhooks/endpoints', endpoint),
      await client.post('/auth/sessions', { redirectUri: 'https://app.example/done' }),
    ]) {
      expect(response.status).toBe(503)
      expect(response.json.error).toMatchObject({ code: 'database_unavailable', type: 'server' })
      expect(response.text).not.toMatch(/ECONN|127\.0\.0\.1|posthorn_test/)
    }
    const page = await api(service.url).get('/auth/authorize?session=nothing', { accept: 'text/html' })
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8'])

    await proxy.restore()
    await eventually(async () => (await client.get('/accounts')).status === 200)
    expect((await client.post('/webhooks/endpoints', endpoint)).status).toBe(201)
  })

  it('the service fails to start and names the setting', async () => {
    const { proxy, place } = await behindProxy(await open.place())
    await proxy.cut()
    const start = startServiceProcess(place)
    await expect(start).rejects.toThrow(/"message":"The service cannot start: [^"]*ECONNREFUSED[^"]*DATABASE_URL/)
    await expect(start).rejects.not.toThrow(/posthorn@/)
  })
})
