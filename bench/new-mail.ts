import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../test/kit/eventually.ts'
import { connectMailboxes, numberedMessage, PASSWORD, userNames } from '../test/scenarios/mailboxes.ts'
import type { Dovecot } from '../test/servers/dovecot.ts'
import { startBareProcess } from './bare-process.ts'
import { percentile, spread } from './figures.ts'
import { type ImapTap, startTap } from './imap-tap.ts'
import { type Recorder, readBare, readSigned, startRecorder, type Tally, tally } from './recorder.ts'
import { ROUNDS } from './rounds.ts'
import { type ImapScenario, withStage } from './stage.ts'
import { judge, sayVerdict } from './verdict.ts'

const RATES = [5, 50]
const MAILBOXES = (process.env.BENCH_MAILBOXES ?? '1,20,200').split(',').map(Number)
/** Of one round. */
const ROUND_MS = Number(process.env.BENCH_SECONDS ?? 12) * 1000
const WARM_UP_MS = 10_000
/** Milliseconds by which a webhook may arrive after the request of the bare client. */
const LIMIT = { atMost: 15 }
const PATIENCE_MS = 60_000

/**
 * Delivers 5 and 50 messages a second to 1, 20 and 200 of 200 mailboxes. In each mailbox, the service and a bare imapflow client receive the
 * same announcements over connections of their own; the bare client fetches the same items and sends one POST to the same receiver. Dovecot
 * announces what arrived within 500 ms at once, to each connection at another time, so each is measured from the moment at which its own
 * connection got the announcement. The difference is that of a single message.
 */
export async function newMail(say: (line: string) => void): Promise<void> {
  const recorder = await startRecorder()
  try {
    await withStage(async (stage) => {
      await withClients(stage, recorder, async (bench) => {
        await measureRound(bench, { name: 'warm', perSecond: 50, forMs: WARM_UP_MS })
        for (const mailboxes of MAILBOXES) {
          const chosen = { ...bench, users: bench.users.slice(0, mailboxes) }
          for (const perSecond of RATES) await measure(chosen, perSecond, say)
        }
      })
      say(`slow statements (over 20 ms)             ${slowStatements(stage.service.output())}`)
    })
  } finally {
    recorder.stop()
  }
}

interface Bench {
  dovecot: Dovecot
  users: readonly string[]
  recorder: Recorder
  secret: string
  /** The connections of each. */
  taps: { ours: ImapTap; bare: ImapTap }
}

/** Connects the service and the bare client to the same mailboxes. */
async function withClients(
  { dovecot, api }: ImapScenario,
  recorder: Recorder,
  run: (bench: Bench) => Promise<void>,
): Promise<void> {
  const users = userNames(Math.max(...MAILBOXES))
  for (const user of users) await dovecot.addUser(user, PASSWORD)
  const taps = { ours: await startTap(dovecot), bare: await startTap(dovecot) }
  const endpoint = { url: recorder.url, eventTypes: ['message.received'] }
  const { secret } = await api.call<{ secret: string }>('POST', '/webhooks/endpoints', endpoint)
  await connectMailboxes(api, { host: taps.ours.host, imapsPort: taps.ours.port }, users)
  const { host, port } = taps.bare
  const options = { host, port, users, password: PASSWORD, url: recorder.url }
  const bare = await startBareProcess('bench/bare-webhooks.ts', options)
  try {
    await run({ dovecot, users, recorder, secret, taps })
  } finally {
    bare.stop()
    await Promise.all([taps.ours.close(), taps.bare.close()])
  }
}

async function measure(bench: Bench, perSecond: number, say: (line: string) => void): Promise<void> {
  const rounds: Latencies[] = []
  const count = bench.users.length
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push(await measureRound(bench, { name: `${count}-${perSecond}-${round}`, perSecond, forMs: ROUND_MS }))
  }
  const what = `${perSecond}/s over ${count} mailbox${count === 1 ? '' : 'es'}`
  for (const [name, share] of [
    ['p50', 0.5],
    ['p95', 0.95],
  ] as const) {
    const ours = rounds.map(({ differences }) => percentile(differences, share))
    sayVerdict(say, judge({ bench: 'new-mail', what: `${what}, ${name}`, unit: 'ms', limit: LIMIT }, { ours }))
  }
  const pooled = (samples: (round: Latencies) => number[]) => spread(rounds.flatMap(samples))
  say(`  announcement to webhook                ${pooled(({ ours }) => ours.processed)}`)
  say(`  announcement to request, bare          ${pooled(({ bare }) => bare.processed)}`)
  say(`  delivery to announcement               ${pooled(({ ours }) => ours.announced)}`)
  say(`  delivery to announcement, bare         ${pooled(({ bare }) => bare.announced)}`)
}

/** One sample per message, in milliseconds. */
interface Latencies {
  ours: Parts
  bare: Parts
  /** By how much the service took longer than the bare client, from the announcement. */
  differences: number[]
}

interface Parts {
  /** From the delivery to the announcement. */
  announced: number[]
  /** From the announcement to the arrival at the receiver. */
  processed: number[]
}

async function measureRound(
  { dovecot, users, recorder, secret, taps }: Bench,
  { name, perSecond, forMs }: { name: string; perSecond: number; forMs: number },
): Promise<Latencies> {
  const deliveredAtMs = new Map<string, number>()
  const startedMs = performance.now()
  const deliveries: Promise<void>[] = []
  for (let index = 0; index < (perSecond * forMs) / 1000; index += 1) {
    await sleep(Math.max(0, (1000 * index) / perSecond - (performance.now() - startedMs)))
    const subject = `new-${name}-${index}`
    deliveredAtMs.set(subject, performance.timeOrigin + performance.now())
    deliveries.push(dovecot.deliver(users[index % users.length] ?? '', numberedMessage(subject)))
  }
  await Promise.all(deliveries)
  const expected = [...deliveredAtMs.keys()]
  await eventually(async () => (await recorder.count()) >= 2 * expected.length, PATIENCE_MS, 50).catch(() => {})
  // A second request about the same message would follow soon.
  await sleep(500)
  const requests = await recorder.take()
  const isBare = (request: (typeof requests)[number]) => readBare(request) !== undefined
  const ofBare = tally(requests.filter(isBare), expected, readBare)
  const ofOurs = tally(
    requests.filter((request) => !isBare(request)),
    expected,
    (request) => readSigned(request, secret),
  )
  const ours = latencies(deliveredAtMs, taps.ours.takeAnnounced(), complete('service', ofOurs))
  const bare = latencies(deliveredAtMs, taps.bare.takeAnnounced(), complete('bare client', ofBare))
  const differences = ours.processed.map((ms, index) => ms - (bare.processed[index] ?? Number.NaN))
  return { ours, bare, differences }
}

/** First arrivals of all messages. Throws unless each was reported once. */
function complete(who: string, { arrivedAtMs, lost, repeated, twice, wrong }: Tally): Map<string, number> {
  if (lost + repeated + twice + wrong === 0) return arrivedAtMs
  throw new Error(`The ${who} lost ${lost}, repeated ${repeated}, sent ${twice} twice and ${wrong} wrong requests.`)
}

function latencies(
  delivered: Map<string, number>,
  announced: Map<string, number>,
  arrived: Map<string, number>,
): Parts {
  const parts: Parts = { announced: [], processed: [] }
  for (const [subject, deliveredMs] of delivered) {
    const announcedMs = announced.get(subject)
    if (announcedMs === undefined) throw new Error(`${subject} was not announced on the connection that fetched it.`)
    parts.announced.push(announcedMs - deliveredMs)
    parts.processed.push((arrived.get(subject) ?? Number.NaN) - announcedMs)
  }
  return parts
}

export function slowStatements(output: string): number {
  return output.split('\n').filter((line) => line.includes('db.slow')).length
}
