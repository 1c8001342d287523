import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { databases } from '../kit/database.ts'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http.ts'
import { startServiceProcess } from '../kit/process.ts'

const open = databases('sqlite')

/** What a file system without room does to a process, for one process: no file of it may grow beyond this. */
const limitFiles = (pid: number, bytes: number | 'unlimited') =>
  promisify(execFile)('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
/** The kernel also sends this signal, which ends whoever does not listen. */
const OUTLIVE_THE_SIGNAL = "data:text/javascript,process.on('SIGXFSZ',()=>{})"

it('while the disk of the file store is full, health says so, reads go on, and writes answer 503', async () => {
  const service = await startServiceProcess({
    ...(await open.place()),
    env: { NODE_OPTIONS: `--import "${OUTLIVE_THE_SIGNAL}"` },
  })
  onTestFinished(() => service.stop().then(() => undefined))
  const client = api(service.url, service.key)
  const health = async () => (await client.get('/health')).json.data
  const endpoint = { url: 'https://127.0.0.1/hook' }
  expect(await health()).toMatchObject({ status: 'healthy', services: { database: true } })

  await limitFiles(service.pid, 1)
  const refused = await client.post('/webhooks/endpoints', endpoint)
  expect([refused.status, refused.json.error.code]).toEqual([503, 'database_unavailable'])
  expect((await client.get('/webhooks/endpoints')).json.endpoints).toEqual([])
  await eventually(async () =>
    expect(await health()).toMatchObject({ status: 'degraded', services: { database: false } }),
  )
  const detailed = (await client.get('/health/detailed')).json.data
  expect(detailed.database).toMatchObject({ healthy: false, problem: expect.stringMatching(/^SQLITE_/) })

  await limitFiles(service.pid, 'unlimited')
  await eventually(async () =>
    expect(await health()).toMatchObject({ status: 'healthy', services: { database: true } }),
  )
  expect((await client.post('/webhooks/endpoints', endpoint)).status).toBe(201)
})
