import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { databases } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http/http.ts'
import { startServiceProcess } from '../kit/service/process.ts'

const open = databases('sqlite')

/** Imitates a full disk for one process: none of its files may grow beyond this size. */
const limitFiles = (pid: number, bytes: number | 'unlimited') =>
  promisify(execFile)('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
/** The kernel also sends SIGXFSZ, which ends a process without a handler. */
const IGNORE_SIGXFSZ = "data:text/javascript,process.on('SIGXFSZ',()=>{})"

it('a full disk makes health degraded and writes return 503, while reads succeed', async () => {
  const service = await startServiceProcess({
    ...(await open.place()),
    env: { NODE_OPTIONS: `--import "${IGNORE_SIGXFSZ}"` },
  })
  onTestFinished(() => service.stop().then(() => undefined))
  const client = api(service.url, service.key)
  const health = async () => (await client.get('/health')).json.data
  const endpoint = { url: 'https://127.0.0.1/hook' }
  expect(await health()).toMatchObject({ status: 'healthy', services: { database: true } })

  await limitFiles(service.pid, 1)
  const rejected = await client.post('/webhooks/endpoints', endpoint)
  expect([rejected.status, rejected.json.error.code]).toEqual([503, 'database_unavailable'])
  expect(rejected.json.error.message).toMatch(/its disk (is full|cannot be read or written)/)
  expect((await client.get('/webhooks/endpoints')).json.endpoints).toEqual([])
  await eventually(async () =>
    expect(await health()).toMatchObject({ status: 'degraded', services: { database: false } }),
  )
  const detailed = (await client.get('/health/detailed')).json.data
  expect(detailed.database).toMatchObject({
    healthy: false,
    problem: expect.stringMatching(/^SQLITE_/),
    remedy: expect.stringContaining('disk'),
  })

  await limitFiles(service.pid, 'unlimited')
  await eventually(async () =>
    expect(await health()).toMatchObject({ status: 'healthy', services: { database: true } }),
  )
  expect((await client.post('/webhooks/endpoints', endpoint)).status).toBe(201)
})
