import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { databases } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { api } from '../kit/http/http.ts'
import { startServiceProcess } from '../kit/service/process.ts'

const stores = databases('sqlite')

const limitOpenFiles = (pid: number, count: number) =>
  promisify(execFile)('prlimit', ['--pid', String(pid), `--nofile=${count}:`])

/** More than the limit leaves, and fewer than the kernel holds for a process that accepts none. */
const MOST_SOCKETS = 400

/** Not awaited: without descriptors, the process may accept none. */
function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  return socket
}

it('a process without file descriptors says so with its limit, lives, and accepts connections again afterwards', async () => {
  const service = await startServiceProcess({ ...(await stores.place()) })
  onTestFinished(() => service.stop().then(() => undefined))
  const client = api(service.url, service.key)
  expect((await client.get('/accounts')).status).toBe(200)

  const limit = readdirSync(`/proc/${service.pid}/fd`).length + 20
  await limitOpenFiles(service.pid, limit)
  const held: Socket[] = []
  onTestFinished(() => held.forEach((socket) => void socket.destroy()))
  // The service may close meanwhile what it still had open from its start.
  await eventually(() => {
    for (let opened = 0; opened < 40 && held.length < MOST_SOCKETS; opened += 1) held.push(open(service.port))
    expect(service.output()).toContain('no file descriptors left')
  })
  expect(service.output()).toMatch(/its limit is \d+/)
  expect(service.output()).toContain('LimitNOFILE')

  for (const socket of held) socket.destroy()
  await limitOpenFiles(service.pid, 1000)
  await eventually(async () => (await client.get('/accounts')).status === 200)
  expect((await client.post('/webhooks/endpoints', { url: 'https://127.0.0.1/hook' })).status).toBe(201)
})
