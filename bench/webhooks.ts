import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from 'undici'
import { type Db, migrateUp, openPostgres, openSqlite } from '../src/infra/db/index.ts'
import { migrations } from '../src/migrations/index.ts'
import { eventually } from '../test/kit/eventually.ts'
import { administer, databaseUrl, findServer } from '../test/kit/postgres-server.ts'
import { type WebhookHouse, webhookHouse } from '../test/kit/webhooks.ts'

const DELIVERIES = 20_000
const PARALLEL = 8
const PER_TRANSACTION = 100

/** A message of ordinary size, about 1.3 KB as JSON. */
const DATA = {
  id: 'msg_bench',
  subject: 'Quarterly figures',
  from: { name: 'Ada', email: 'ada@example.com' },
  to: [{ name: 'Grace', email: 'grace@example.com' }],
  snippet: 'Dear Grace, '.repeat(15),
  labelIds: ['lbl_inbox'],
  references: Array.from({ length: 10 }, (_, index) => `<${index}.0123456789abcdef0123456789abcdef@mail.example.com>`),
}

/** A backlog of 20,000 deliveries to one endpoint: events become rows, are signed, sent and settled; beside bare undici, which only sends. */
export async function webhooks(say: (line: string) => void): Promise<void> {
  const receiver = await startSink()
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const server = await findServer()
  try {
    const bare = await bareUndici(receiver.url)
    say(`bare undici, ${PARALLEL} at a time        ${perSecond(DELIVERIES, bare)}`)
    let slow = 0
    const onSlowStatement = () => {
      slow += 1
    }
    const file = openSqlite({ file: join(folder, 'posthorn.db'), synchronous: 'NORMAL', onSlowStatement })
    say(`posthorn on the file store      ${await backlog(file, receiver.url)}`)
    say(`slow statements (over 20 ms)    ${slow}`)
    if (server !== undefined) {
      const name = `posthorn_bench_${process.pid}`
      await administer(server.url, `create database "${name}"`)
      const db = openPostgres({ url: databaseUrl(server.url, name), maxConnections: 10, onError: console.error })
      say(`posthorn on PostgreSQL          ${await backlog(db, receiver.url)}`)
      await administer(server.url, `drop database "${name}" with (force)`)
    }
  } finally {
    receiver.stop()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function backlog(db: Db, url: string): Promise<string> {
  await migrateUp(db, migrations, () => {})
  const house = webhookHouse(db)
  await house.create({ url })
  for (let made = 0; made < DELIVERIES; made += PER_TRANSACTION) {
    await house.record(
      ...Array.from({ length: PER_TRANSACTION }, (_, index) => ({ objectId: `msg_${made + index}`, data: DATA })),
    )
  }
  const cpu = process.cpuUsage()
  const startedMs = performance.now()
  await house.engine.start()
  await eventually(() => isDone(house), 600_000, 20)
  const tookMs = performance.now() - startedMs
  const { user, system } = process.cpuUsage(cpu)
  await house.close()
  await db.close()
  return `${perSecond(DELIVERIES, tookMs)}  (${Math.round((user + system) / DELIVERIES)} µs of CPU each)`
}

/** Nothing waits any more; asked in a way that costs nothing beside the work itself. */
async function isDone({ db }: WebhookHouse): Promise<boolean> {
  const unseen = await db.read.selectFrom('events').select('id').where('position', 'is', null).limit(1).execute()
  const waiting = db.read.selectFrom('webhookDeliveries').select('id').where('nextAttemptAt', 'is not', null).limit(1)
  return unseen.length === 0 && (await waiting.execute()).length === 0
}

/** How long it takes to post as much, without storing, signing or recording anything. */
async function bareUndici(url: string): Promise<number> {
  const agent = new Agent()
  const { origin, pathname } = new URL(url)
  const body = JSON.stringify({ deliveryId: 'dlv_bench', test: false, id: 'evt_bench', data: DATA })
  const headers = { 'content-type': 'application/json' }
  const startedMs = performance.now()
  let left = DELIVERIES
  const post = async () => {
    for (; left > 0; left -= 1) {
      const answer = await agent.request({ origin, path: pathname, method: 'POST', headers, body })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, post))
  await agent.close()
  return performance.now() - startedMs
}

/** A receiver in a process of its own that answers 204 to everything. */
async function startSink(): Promise<{ url: string; stop(): void }> {
  const child = spawn(process.execPath, ['-e', SINK], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout, 'data')
  return { url: `http://127.0.0.1:${String(port).trim()}/hook`, stop: () => void child.kill() }
}

const SINK = `
const server = require('node:http').createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end())
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

function perSecond(count: number, ms: number): string {
  return `${Math.round((count / ms) * 1000).toLocaleString('en')}/s`
}
