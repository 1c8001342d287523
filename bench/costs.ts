import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '../src/platform/db/index.ts'
import { openPostgres } from '../src/platform/db/postgres/postgres.ts'
import { startOwnPostgres } from '../test/kit/database/postgres-server.ts'
import { eventually } from '../test/kit/eventually.ts'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { type Client, client } from '../test/scenarios/client.ts'
import { connectMailboxes, numberedMessage, PASSWORD } from '../test/scenarios/mailboxes.ts'
import { type Dovecot, startDovecot } from '../test/servers/dovecot.ts'
import { readDatabase, readTables, vacuum } from './costs/database-figures.ts'
import { cpuMs, readMemory } from './figures.ts'
import { startSink } from './sink.ts'

const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 200)
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 4000)
/** The accounts that receive messages. */
const RECEIVERS = 20
const IDLE_MS = 60_000
/** After the start. */
const SETTLE_MS = 20_000
/** The first poll of an account reads all that the next ones need not read again. */
const FIRST_POLL_MS = 80_000
/** Search words are written some seconds after their messages. */
const INDEXED_MS = 10_000
const BODY = 'The quarterly figures are attached, and the meeting moves to Thursday afternoon. '.repeat(20)

/** As a server that keeps what it wrote, and can be replicated. */
const POSTGRES = {
  full_page_writes: 'on',
  wal_level: 'replica',
  autovacuum: 'on',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  shared_preload_libraries: 'pg_stat_statements',
}

/**
 * What one message, one delivery and one idle account cost the service and PostgreSQL, by the difference of two phases of
 * the same service: without and with accounts, and messages without and with a webhook endpoint. Then the size of each row.
 */
export async function costs(say: (line: string) => void): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const [server, dovecot, sink] = [await startOwnPostgres(POSTGRES), await startDovecot(), await startSink()]
  const db = openPostgres({ url: server.url, maxConnections: 2, onError: console.error, hasTimeouts: false })
  const service = await startServiceProcess({ dataDir, databaseUrl: server.url, env: ENVIRONMENT })
  try {
    await sql`create schema statistics`.execute(db.read)
    await sql`create extension pg_stat_statements schema statistics`.execute(db.read)
    await measure({ db, dovecot, service, api: client(service.url, service.key), sinkUrl: sink.url }, say)
  } finally {
    await service.stop()
    await db.close()
    sink.stop()
    await dovecot.stop()
    await server.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

const ENVIRONMENT = {
  LOG_LEVEL: 'info',
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  ADMIN_PASSWORD: 'costs of the benchmark',
}

interface Bench {
  db: Db
  dovecot: Dovecot
  service: ServiceProcess
  api: Client
  sinkUrl: string
}

interface Costs {
  cpuMs: number
  statements: number
  transactions: number
  walBytes: number
  storedBytes: number
}

async function measure(bench: Bench, say: (line: string) => void): Promise<void> {
  const { db, dovecot, api, service, sinkUrl } = bench
  const users = Array.from({ length: ACCOUNTS }, (_, index) => `user-${index}@mail.example`)
  for (const user of users) await dovecot.addUser(user, PASSWORD)
  await sleep(SETTLE_MS)
  const empty = await during(bench, () => sleep(IDLE_MS))
  const { shared: emptyBytes } = await readMemory(service.pid)
  say(`idle service, each minute              ${describe(empty, 1)}`)

  await connectMailboxes(api, dovecot, users)
  await sleep(FIRST_POLL_MS)
  const idle = await during(bench, () => sleep(IDLE_MS))
  const { shared } = await readMemory(service.pid)
  const memory = Math.round((shared - emptyBytes) / ACCOUNTS / 1024)
  say(`idle account, each minute              ${describe(less(idle, empty), ACCOUNTS)} · ${memory} kB of memory`)

  // The first messages of a table cost more: pages of its indexes are split.
  await receive(bench, users, 'warm', MESSAGES / 4)
  const messages = await during(bench, () => receive(bench, users, 'plain', MESSAGES))
  say(`message                                ${describe(messages, MESSAGES)}`)

  await api.call('POST', '/webhooks/endpoints', { url: sinkUrl, eventTypes: ['message.received'] })
  await receive(bench, users, 'warm-sent', MESSAGES / 4)
  const sent = await during(bench, async () => {
    await receive(bench, users, 'sent', MESSAGES)
    await allSent(db)
  })
  say(`message with a delivery                ${describe(sent, MESSAGES)}`)
  say(`  thereof the delivery                 ${describe(less(sent, messages), MESSAGES)}`)

  await vacuum(db)
  say('stored rows, with their indexes:')
  for (const { name, rows, tableBytes, indexBytes } of (await readTables(db)).filter(
    (table) => table.rows >= MESSAGES,
  )) {
    const [table, index] = [tableBytes, indexBytes].map((bytes) => Math.round(bytes / rows))
    say(`  ${name.padEnd(36)} ${String(rows).padStart(7)} rows · ${table} bytes + ${index} of indexes each`)
  }
}

async function during({ db, service }: Bench, work: () => Promise<unknown>): Promise<Costs> {
  await vacuum(db)
  const [before, cpuBefore] = [await readDatabase(db), await cpuMs(service.pid)]
  await work()
  const [after, cpuAfter] = [await readDatabase(db), await cpuMs(service.pid)]
  return {
    cpuMs: cpuAfter - cpuBefore,
    statements: after.statements - before.statements,
    transactions: after.transactions - before.transactions,
    walBytes: after.walBytes - before.walBytes,
    storedBytes: after.storedBytes - before.storedBytes,
  }
}

/** Resolves when all messages are stored, and their words too. */
async function receive({ db, dovecot }: Bench, users: readonly string[], name: string, count: number): Promise<void> {
  const receivers = users.slice(0, RECEIVERS)
  const before = await countMessages(db)
  await Promise.all(
    receivers.map((user, receiver) => {
      const numbers = Array.from({ length: count / RECEIVERS }, (_, index) => `${name} ${receiver} ${index}`)
      return dovecot.deliverMany(
        user,
        numbers.map((subject) => Buffer.from(numberedMessage(subject.replaceAll(' ', '-')) + BODY)),
      )
    }),
  )
  await eventually(async () => (await countMessages(db)) >= before + count, 300_000, 200)
  await sleep(INDEXED_MS)
}

async function countMessages(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from "messages"`.execute(db.read)
  return rows[0]?.count ?? 0
}

async function allSent(db: Db): Promise<void> {
  await eventually(
    async () => {
      const waiting = db.read.selectFrom('webhookDeliveries').select('id').where('nextAttemptAt', 'is not', null)
      return (await waiting.limit(1).execute()).length === 0
    },
    300_000,
    200,
  )
}

function less(costs: Costs, base: Costs): Costs {
  return {
    cpuMs: costs.cpuMs - base.cpuMs,
    statements: costs.statements - base.statements,
    transactions: costs.transactions - base.transactions,
    walBytes: costs.walBytes - base.walBytes,
    storedBytes: costs.storedBytes - base.storedBytes,
  }
}

function describe({ cpuMs, statements, transactions, walBytes, storedBytes }: Costs, count: number): string {
  const each = (value: number, digits: number) => (value / count).toFixed(digits)
  return `${each(cpuMs, 2)} ms of CPU · ${each(statements, 1)} statements, ${each(transactions, 1)} transactions · ${each(walBytes / 1024, 1)} kB of WAL · ${each(storedBytes / 1024, 1)} kB stored`
}
