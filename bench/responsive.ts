import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { type Client, client } from '../test/scenarios/client.ts'
import { cpuMs, percentile } from './figures.ts'
import { type Mailboxes, startMailboxes } from './mailboxes.ts'
import { slowStatements } from './new-mail.ts'
import { type Prober, startProber } from './prober.ts'
import { DATA, type Sink, startSink } from './sink.ts'

const ROWS = Number(process.env.BENCH_ROWS ?? 100_000)
/** `0`: only the throughput, without requests beside the work. */
const PROBES = process.env.BENCH_PROBES !== '0'
/** The acts to run, for example `ac`. */
const ACTS = process.env.BENCH_ACTS ?? 'abcd'
const UNSTAMPED = 'events where position is null'
const LISTED = 500
const POLL_MS = 200

/**
 * Response times while the file store works through large sets: `/health/live` and a page of another
 * account's messages, requested by another process. Also prints the rows per second, and the service's CPU time per row.
 */
export async function responsive(say: (line: string) => void): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const mailboxes = await startMailboxes()
  const sink = await startSink()
  const stage = new Stage(dataDir, say)
  try {
    await stage.start()
    const listed = await stage.connect(`listed-${LISTED}`, mailboxes.port)
    await stage.total(listed, LISTED)
    stage.listPath = `/accounts/${listed}/messages?limit=50`
    await stage.restart()
    if (PROBES) await stage.act('idle', 0, () => sleep(5_000))
    if (ACTS.includes('a')) await recoverEvents(stage, listed, sink)
    if (ACTS.includes('b')) await fanOutEvents(stage, listed, sink)
    if (ACTS.includes('c')) await syncAndEmpty(stage, mailboxes)
    if (ACTS.includes('d')) await deleteAccount(stage, mailboxes)
  } finally {
    await stage.stop()
    mailboxes.stop()
    sink.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function recoverEvents(stage: Stage, accountId: string, sink: Sink): Promise<void> {
  const quiet = await stage.endpoint(sink.url, false)
  await stage.stop()
  stage.seed((file) => seedEvents(file, accountId, true))
  await stage.start()
  await stage.act('a) events recovered', ROWS, () => stage.recover(quiet))
  await stage.api.call('DELETE', `/webhooks/endpoints/${quiet}`)
}

async function fanOutEvents(stage: Stage, accountId: string, sink: Sink): Promise<void> {
  const busy = await stage.endpoint(sink.url, true)
  await stage.stop()
  stage.seed((file) => seedEvents(file, accountId, false))
  // The fan-out begins before the service is ready.
  const sinceMs = performance.now()
  await stage.start()
  const drained = () =>
    stage.none(UNSTAMPED).then(() => stage.none('webhookDeliveries where nextAttemptAt is not null'))
  await stage.act('b) events fanned out and delivered', ROWS, drained, sinceMs)
  await stage.api.call('PUT', `/webhooks/endpoints/${busy}`, { isActive: false })
}

async function syncAndEmpty(stage: Stage, mailboxes: Mailboxes): Promise<void> {
  const big = await stage.connect(`big-${ROWS}`, mailboxes.port)
  await stage.act('c) messages synced', ROWS, () => stage.total(big, ROWS))
  await stage.restart()
  mailboxes.empty(`big-${ROWS}`)
  await stage.act('   messages removed, events stamped', ROWS, () =>
    stage.total(big, 0).then(() => stage.none(UNSTAMPED)),
  )
}

async function deleteAccount(stage: Stage, mailboxes: Mailboxes): Promise<void> {
  const doomed = await stage.connect(`doomed-${ROWS}`, mailboxes.port)
  await stage.total(doomed, ROWS)
  await stage.act('d) messages of a deleted account', ROWS, async () => {
    await stage.api.call('DELETE', `/accounts/${doomed}`)
    await stage.none('accountErasures')
  })
}

/** The service on its data folder, and the prober. */
class Stage {
  api: Client = client('', '')
  listPath: string | undefined
  readonly #dataDir: string
  readonly #say: (line: string) => void
  #service: ServiceProcess | undefined
  #prober: Prober | undefined

  constructor(dataDir: string, say: (line: string) => void) {
    this.#dataDir = dataDir
    this.#say = say
  }

  get #file(): string {
    return join(this.#dataDir, 'posthorn.db')
  }

  async start(): Promise<void> {
    const env = { LOG_LEVEL: 'info', SYNC_INITIAL_MESSAGES: String(ROWS) }
    const service = await startServiceProcess({ dataDir: this.#dataDir, env })
    this.#service = service
    this.api = client(service.url, service.key)
    if (PROBES && this.listPath !== undefined) this.#prober = await startProber(service.url, this.listPath, service.key)
  }

  async stop(): Promise<void> {
    this.#prober?.stop()
    await this.#service?.stop()
    this.#service = undefined
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  /** Call it while the service is stopped. */
  seed(write: (file: string) => void): void {
    write(this.#file)
  }

  /** The rate counts from `sinceMs`, by default from now. */
  async act(title: string, rows: number, work: () => Promise<unknown>, sinceMs = performance.now()): Promise<void> {
    const [service, prober] = [this.#service, this.#prober]
    if (service === undefined) throw new Error('nothing runs')
    await prober?.take()
    const slowBefore = slowStatements(service.output())
    const cpuBefore = await cpuMs(service.pid)
    await work()
    const tookMs = performance.now() - sinceMs
    const cpu = (await cpuMs(service.pid)) - cpuBefore
    const samples = await prober?.take()
    const rate =
      rows === 0
        ? ''
        : `${Math.round((rows / tookMs) * 1000)} rows/s, ${Math.round((cpu * 1000) / rows)} µs of CPU each`
    this.#say(`${title.padEnd(38)} ${(tookMs / 1000).toFixed(1)} s  ${rate}`)
    if (samples === undefined) return
    const slow = slowStatements(service.output()) - slowBefore
    this.#say(`     /health/live ${spread(samples.live)}   list page ${spread(samples.list)}   slow statements ${slow}`)
  }

  async connect(user: string, port: number): Promise<string> {
    const imap = { host: '127.0.0.1', port, secure: true, allowSelfSigned: true, username: user, password: 'secret' }
    const account = { provider: 'imap', email: `${user}@bench.example`, ...imap }
    return (await this.api.call<{ id: string }>('POST', '/accounts', account)).id
  }

  async endpoint(url: string, isActive: boolean): Promise<string> {
    const body = { url, isActive, eventTypes: ['message.received'] }
    return (await this.api.call<{ id: string }>('POST', '/webhooks/endpoints', body)).id
  }

  async recover(endpointId: string): Promise<void> {
    let since: string | undefined = '2020-01-01T00:00:00.000Z'
    while (since !== undefined) {
      const path = `/webhooks/endpoints/${endpointId}/recover`
      const result: { continueSince?: string } = await this.api.call('POST', path, { since })
      since = result.continueSince
    }
  }

  /** Until the account's list has this many messages. */
  total(accountId: string, wanted: number): Promise<void> {
    return until(() => {
      const rows = this.#query(
        `select coalesce(max("total"), -1) as n from "messageCounters" where "accountId" = '${accountId}'`,
      )
      return rows === wanted
    })
  }

  /** Until the table has no such row. */
  none(from: string): Promise<void> {
    return until(() => this.count(from, 1) === 0)
  }

  /** Rows of `<table>` or `<table> where <column> <condition>`, up to `most`. */
  count(from: string, most: number = ROWS): number {
    const [table, condition] = from.split(' where ')
    const where = condition?.replace(/^\w+/, 'where "$&"') ?? ''
    return this.#query(`select count(*) as n from (select 1 from "${table}" ${where} limit ${most})`)
  }

  #query(text: string): number {
    const database = new Database(this.#file, { readonly: true })
    try {
      return Number((database.prepare(text).get() as { n: number }).n)
    } finally {
      database.close()
    }
  }
}

async function until(isDone: () => boolean): Promise<void> {
  const endMs = performance.now() + 600_000
  while (!isDone()) {
    if (performance.now() > endMs) throw new Error('not done after 10 minutes')
    await sleep(POLL_MS)
  }
}

/** Written while the service is stopped. Stamped events were fanned out; the others wait for it. */
function seedEvents(file: string, accountId: string, stamped: boolean): void {
  const database = new Database(file)
  const data = JSON.stringify(DATA)
  const nowMs = Date.now()
  const start = Number(
    (database.prepare('select "position" as n from "eventPosition" where "id" = 1').get() as { n: number }).n,
  )
  const insert = database.prepare(
    `insert into "events" ("id", "type", "accountId", "provider", "sequence", "objectId", "version", "data", "position", "fanOut", "createdAt")
     values (?, 'message.received', ?, 'imap', ?, ?, 1, ?, ?, 1, ?)`,
  )
  database.exec('begin')
  for (let index = 1; index <= ROWS; index += 1) {
    const id = `evt_${stamped ? 'a' : 'z'}${String(index).padStart(12, '0')}`
    const position = stamped ? BigInt(start + index) : null
    insert.run([
      id,
      accountId,
      BigInt(index + (stamped ? 1e6 : 2e6)),
      `msg_${id}`,
      data,
      position,
      BigInt(nowMs - ROWS + index),
    ])
  }
  if (stamped)
    database.exec(`update "eventPosition" set "position" = "position" + ${ROWS}, "total" = "total" + ${ROWS}`)
  database.exec('commit')
  database.close()
}

function spread(samples: readonly number[]): string {
  const [p50, p99, max] = [0.5, 0.99, 1].map((p) => percentile(samples, p).toFixed(0))
  return `p50 ${p50} · p99 ${p99} · max ${max} ms (n = ${samples.length})`
}
