import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../test/kit/eventually.ts'
import { api } from '../../test/kit/http/http.ts'
import { freePort } from '../../test/servers/free-port.ts'
import { loadConfig } from '../config/index.ts'
import { app } from './app.ts'
import { runtimeContext } from './runtime-context.ts'

it('answers health checks while it waits for Redis', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-startup-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const port = await freePort()
  const environment = {
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: folder,
    REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
    SERVICE_API_KEY: 'test-key-0123456789abcdef0123456789',
    LOG_LEVEL: 'fatal',
  }
  const context = runtimeContext(loadConfig({ environment, folder }), () => {})
  const service = app(context)
  const aborted = new AbortController()
  const started = service.start(aborted.signal).catch((error: unknown) => error)
  const client = api(`http://127.0.0.1:${port}`)
  await eventually(async () => {
    const { status, json } = await client.get('/health')
    expect([status, json.data]).toMatchObject([200, { status: 'degraded', queue: { provider: 'redis' } }])
  })
  expect((await client.get('/health/live')).status).toBe(200)
  expect((await client.get('/health/ready')).status).toBe(503)
  expect((await client.get('/accounts')).status).toBe(503)
  aborted.abort()
  expect(await started).toBeInstanceOf(Error)
  await service.stop()
  await context.close()
})
