import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { administer, databaseUrl, findServer } from '../test/kit/database/postgres-server.ts'
import { eventually } from '../test/kit/eventually.ts'
import { type ServicePlace, startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { connectMailboxes, numberedMessage, PASSWORD } from '../test/scenarios/mailboxes.ts'
import { type Dovecot, startDovecot } from '../test/servers/dovecot.ts'
import { verifyRequest } from '../test/servers/receiver.ts'
import type { BareBurst } from './bare-burst.ts'
import { cpuMs, percentile } from './figures.ts'
import { slowStatements } from './new-mail.ts'
import { type Recorded, type Recorder, startRecorder } from './sink.ts'

const MAILBOXES = 20
const PER_MAILBOX = Number(process.env.BENCH_MESSAGES ?? 2000) / MAILBOXES
const ROUNDS = 3
/** The stores to measure, separated by commas. */
const STORES = (process.env.BENCH_STORES ?? 'file,postgres').split(',')

/**
 * Delivers 2,000 messages to 20 mailboxes as fast as Dovecot accepts them. Measures from the first delivery to the last
 * webhook. The bare client fetches the same items from 20 other mailboxes and sends one request per message; the two take
 * turns. Prints the median of three rounds, and counts messages that were lost, sent twice or not signed.
 */
export async function burst(say: (line: string) => void): Promise<void> {
  const dovecot = await startDovecot()
  const recorder = await startRecorder()
  try {
    for (const store of STORES) await withStore(store, (place) => measure({ store, place, dovecot, recorder, say }))
  } finally {
    recorder.stop()
    await dovecot.stop()
  }
}

interface Bench {
  store: string
  place: ServicePlace
  dovecot: Dovecot
  recorder: Recorder
  say: (line: string) => void
}

/** Skips PostgreSQL where no server is found. */
async function withStore(store: string, run: (place: ServicePlace) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  const server = store === 'postgres' ? await findServer() : undefined
  try {
    if (store === 'file') await run({ dataDir })
    if (server === undefined) return
    const name = `posthorn_burst_${process.pid}`
    await administer(server.url, `create database "${name}"`)
    await run({ dataDir, databaseUrl: databaseUrl(server.url, name) })
    await administer(server.url, `drop database "${name}" with (force)`)
  } finally {
    await server?.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function measure({ store, place, dovecot, recorder, say }: Bench): Promise<void> {
  const users = await addUsers(dovecot, store)
  const bareUsers = await addUsers(dovecot, `bare-${store}`)
  const bare = await startBare(dovecot, bareUsers, recorder.url)
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info', ...place.env } })
  try {
    const api = client(service.url, service.key)
    const endpoint = { url: recorder.url, eventTypes: ['message.received'] }
    const { secret } = await api.call<{ secret: string }>('POST', '/webhooks/endpoints', endpoint)
    await connectMailboxes(api, dovecot, users)
    const rounds: { bare: Figures; own: Figures }[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push({
        bare: await oneBurst(dovecot, bareUsers, recorder, `bare-${round}`, bare.pid ?? 0, bareSubject),
        own: await oneBurst(dovecot, users, recorder, `own-${round}`, service.pid, (request) =>
          subject(request, secret),
        ),
      })
    }
    say(`bare, beside the ${store} store`.padEnd(40) + line(rounds.map((round) => round.bare)))
    say(`posthorn, ${store} store`.padEnd(40) + line(rounds.map((round) => round.own)))
    const ratio = median(rounds.map(({ bare, own }) => own.perSecond / bare.perSecond))
    say(`  posthorn / bare, per round             ${ratio.toFixed(2)}`)
    say(`  slow statements (over 20 ms)           ${slowStatements(service.output())}`)
  } finally {
    bare.kill()
    await service.stop()
  }
}

interface Figures {
  perSecond: number
  /** Milliseconds of CPU per message. */
  cpuEach: number
  /** The share of the time in which the process used no CPU. */
  idle: number
  lost: number
  /** Requests that were sent again under the same id. */
  repeated: number
  twice: number
  wrong: number
}

/** `readSubject` returns undefined for a request that the application would refuse. */
async function oneBurst(
  dovecot: Dovecot,
  users: readonly string[],
  recorder: Recorder,
  name: string,
  pid: number,
  readSubject: (request: Recorded) => string | undefined,
): Promise<Figures> {
  const subjects = (user: number) => Array.from({ length: PER_MAILBOX }, (_, index) => `${name}-${user}-${index}`)
  const cpuBefore = await cpuMs(pid)
  const startedAtMs = performance.timeOrigin + performance.now()
  await Promise.all(users.map((user, index) => dovecot.deliverMany(user, subjects(index).map(raw))))
  const expected = users.flatMap((_, index) => subjects(index))
  await eventually(async () => (await recorder.count()) >= expected.length, 60_000, 20).catch(() => {})
  const cpu = (await cpuMs(pid)) - cpuBefore
  // A second delivery of the same event would follow soon.
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const requests = await recorder.take()
  const tookMs = Math.max(...requests.map(({ atMs }) => atMs)) - startedAtMs
  const eventIds = new Map(expected.map((subject) => [subject, new Set<string>()]))
  let wrong = 0
  for (const request of requests) {
    const received = readSubject(request)
    const ids = received === undefined ? undefined : eventIds.get(received)
    // A request that is repeated because its reply was lost has the same id.
    if (ids === undefined) wrong += 1
    else ids.add(readId(request))
  }
  const counts = [...eventIds.values()].map(({ size }) => size)
  return {
    perSecond: (expected.length / tookMs) * 1000,
    cpuEach: cpu / expected.length,
    idle: Math.max(0, 1 - cpu / tookMs),
    lost: counts.filter((count) => count === 0).length,
    repeated: requests.length - wrong - counts.reduce((sum, count) => sum + count, 0),
    twice: counts.filter((count) => count > 1).length,
    wrong,
  }
}

function subject({ headers, body }: Recorded, secret: string): string | undefined {
  try {
    verifyRequest(secret, { headers, body })
    return JSON.parse(body).data.subject
  } catch {
    return undefined
  }
}

function bareSubject({ body }: Recorded): string | undefined {
  return /^Subject: (.*)\r$/m.exec(JSON.parse(body).header)?.[1]
}

/** Returns the event's id; the bare client reports a message's UID instead. */
const readId = ({ body }: Recorded): string => {
  const { id, uid } = JSON.parse(body)
  return id ?? String(uid)
}

const raw = (text: string) => Buffer.from(numberedMessage(text))

async function addUsers(dovecot: Dovecot, name: string): Promise<string[]> {
  const users = Array.from({ length: MAILBOXES }, (_, index) => `${name}-${index}@mail.example`)
  for (const user of users) await dovecot.addUser(user, PASSWORD)
  return users
}

async function startBare({ host, imapsPort }: Dovecot, users: readonly string[], url: string): Promise<ChildProcess> {
  const options: BareBurst = { host, port: imapsPort, users, password: PASSWORD, url }
  const args = ['--import', 'tsx', 'bench/bare-burst.ts', JSON.stringify(options)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

const median = (values: readonly number[]) => percentile(values, 0.5)

function line(rounds: readonly Figures[]): string {
  const of = (figure: (round: Figures) => number) => median(rounds.map(figure))
  const rates = rounds.map(({ perSecond }) => Math.round(perSecond)).join(', ')
  const sum = (figure: (round: Figures) => number) => rounds.reduce((total, round) => total + figure(round), 0)
  return [
    `${Math.round(of((round) => round.perSecond))}/s (${rates})`,
    `${of((round) => round.cpuEach).toFixed(2)} ms of CPU each`,
    `idle ${Math.round(100 * of((round) => round.idle))} %`,
    `lost ${sum((round) => round.lost)}, repeated ${sum((round) => round.repeated)}, twice ${sum((round) => round.twice)}, wrong ${sum((round) => round.wrong)}`,
  ].join(' · ')
}
