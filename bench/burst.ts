import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../test/kit/eventually.ts'
import { type ServicePlace, startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { connectMailboxes, numberedMessage, PASSWORD } from '../test/scenarios/mailboxes.ts'
import { type Dovecot, startDovecot } from '../test/servers/dovecot.ts'
import { startBareProcess } from './bare-process.ts'
import { cpuMs, median } from './figures.ts'
import { slowStatements } from './new-mail.ts'
import { type Recorder, readBare, readSigned, startRecorder, type Tally, tally } from './recorder.ts'
import { inTurns } from './rounds.ts'
import { onEachStore } from './stores.ts'
import { judge, type Limit, sayVerdict } from './verdict.ts'

interface BurstCase {
  mailboxes: number
  limit: Limit
}

const CASES: readonly BurstCase[] = [
  { mailboxes: 20, limit: { ratioAtLeast: 0.9 } },
  { mailboxes: 200, limit: { ratioAtLeast: 0.8 } },
]
const CHOSEN = (process.env.BENCH_MAILBOXES ?? '20,200').split(',').map(Number)
/** To each mailbox. */
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 100)
/** CPU time of the service for each message. */
const CPU_LIMIT = { atMost: 0.8 }
const PATIENCE_MS = 120_000

/**
 * Delivers 2,000 messages to 20 mailboxes, and 20,000 to 200, as fast as Dovecot accepts them, on both stores. Measures from the first delivery to the last webhook.
 * The bare client fetches the same items from as many other mailboxes and sends one request per message; the two take turns. Counts
 * messages that were lost, sent twice or not signed.
 */
export async function burst(say: (line: string) => void): Promise<void> {
  for (const oneCase of CASES.filter(({ mailboxes }) => CHOSEN.includes(mailboxes))) {
    await onEachStore(say, async (title, place) => {
      const dovecot = await startDovecot()
      const recorder = await startRecorder()
      try {
        await measure(oneCase, { title, place, dovecot, recorder, say })
      } finally {
        recorder.stop()
        await dovecot.stop()
      }
    })
  }
}

interface Bench {
  title: string
  place: ServicePlace
  dovecot: Dovecot
  recorder: Recorder
  say: (line: string) => void
}

async function measure(
  { mailboxes, limit }: BurstCase,
  { title, place, dovecot, recorder, say }: Bench,
): Promise<void> {
  const messages = mailboxes * MESSAGES
  const users = await addUsers(dovecot, 'own', mailboxes)
  const bareUsers = await addUsers(dovecot, 'bare', mailboxes)
  const { host, imapsPort } = dovecot
  const bareOptions = { host, port: imapsPort, users: bareUsers, password: PASSWORD, url: recorder.url }
  const bare = await startBareProcess('bench/bare-webhooks.ts', bareOptions)
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info' } })
  try {
    const api = client(service.url, service.key)
    const endpoint = { url: recorder.url, eventTypes: ['message.received'] }
    const { secret } = await api.call<{ secret: string }>('POST', '/webhooks/endpoints', endpoint)
    await connectMailboxes(api, dovecot, users)
    const own: Figures[] = []
    const beside: Figures[] = []
    const run = async (of: Figures[], burstOf: Burst) => {
      const figures = await oneBurst(dovecot, recorder, burstOf)
      of.push(figures)
      return figures.perSecond
    }
    const compared = await inTurns(
      (round) =>
        run(own, {
          name: `own-${round}`,
          users,
          pid: service.pid,
          read: (request) => readSigned(request, secret),
        }),
      (round) => run(beside, { name: `bare-${round}`, users: bareUsers, pid: bare.pid, read: readBare }),
    )
    const about = (what: string) => ({
      bench: 'burst',
      what: `${title}, ${messages.toLocaleString('en')} over ${mailboxes}${what}`,
    })
    sayVerdict(say, judge({ ...about(''), unit: '/s', limit }, compared))
    const cpu = { ours: own.map(({ cpuEach }) => cpuEach) }
    sayVerdict(say, judge({ ...about(', CPU'), unit: 'ms', limit: CPU_LIMIT }, cpu))
    // The sum, because a median would hide a round.
    const faults = own.reduce((sum, round) => sum + round.faults, 0)
    const none = { atMost: 0 }
    sayVerdict(say, judge({ ...about(', faults'), unit: '', limit: none }, { ours: [faults] }))
    say(`  service  ${describe(own)}`)
    say(`  bare     ${describe(beside)}`)
    say(`  slow statements (over 20 ms) ${slowStatements(service.output())}`)
  } finally {
    bare.stop()
    await service.stop()
  }
}

interface Burst {
  name: string
  users: readonly string[]
  /** The process whose CPU time counts. */
  pid: number
  read: Parameters<typeof tally>[2]
}

interface Figures extends Tally {
  perSecond: number
  /** Milliseconds of CPU per message. */
  cpuEach: number
  /** The share of the time in which the process used no CPU. */
  idle: number
  /** Messages that were lost or sent twice, and wrong requests. */
  faults: number
}

async function oneBurst(dovecot: Dovecot, recorder: Recorder, { name, users, pid, read }: Burst): Promise<Figures> {
  const subjects = (user: number) => Array.from({ length: MESSAGES }, (_, index) => `${name}-${user}-${index}`)
  const expected = users.flatMap((_, index) => subjects(index))
  const cpuBefore = await cpuMs(pid)
  const startedAtMs = performance.timeOrigin + performance.now()
  await Promise.all(users.map((user, index) => dovecot.deliverMany(user, subjects(index).map(raw))))
  await eventually(async () => (await recorder.count()) >= expected.length, PATIENCE_MS, 20).catch(() => {})
  const cpu = (await cpuMs(pid)) - cpuBefore
  // A second delivery of the same event would follow soon.
  await sleep(1000)
  const requests = await recorder.take()
  const tookMs = requests.reduce((last, { atMs }) => Math.max(last, atMs), startedAtMs) - startedAtMs
  const counted = tally(requests, expected, read)
  return {
    ...counted,
    perSecond: (expected.length / tookMs) * 1000,
    cpuEach: cpu / expected.length,
    idle: Math.max(0, 1 - cpu / tookMs),
    faults: counted.lost + counted.twice + counted.wrong,
  }
}

const raw = (text: string) => Buffer.from(numberedMessage(text))

async function addUsers(dovecot: Dovecot, name: string, count: number): Promise<string[]> {
  const users = Array.from({ length: count }, (_, index) => `${name}-${index}@mail.example`)
  for (const user of users) await dovecot.addUser(user, PASSWORD)
  return users
}

function describe(rounds: readonly Figures[]): string {
  const middle = (figure: (round: Figures) => number) => median(rounds.map(figure))
  const sum = (figure: (round: Figures) => number) => rounds.reduce((total, round) => total + figure(round), 0)
  return [
    `${middle((round) => round.cpuEach).toFixed(2)} ms of CPU each`,
    `idle ${Math.round(100 * middle((round) => round.idle))} %`,
    `lost ${sum((round) => round.lost)}`,
    `repeated ${sum((round) => round.repeated)}`,
    `twice ${sum((round) => round.twice)}`,
    `wrong ${sum((round) => round.wrong)}`,
  ].join(' · ')
}
