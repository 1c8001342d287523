import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { Client } from 'undici'
import { eventually } from '../test/kit/eventually.ts'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { connectMailboxes, PASSWORD } from '../test/scenarios/mailboxes.ts'
import { type Dovecot, startDovecot } from '../test/servers/dovecot.ts'
import { otherClient } from '../test/servers/imap-mailbox.ts'
import type { BareSender } from './bare-sender.ts'
import { cpuMs, median } from './figures.ts'
import type { Accepted } from './smtp-sink.ts'
import { onEachStore, type Place } from './stores.ts'

const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 1000)
/** Each has one SMTP connection, and the bare client has as many. */
const ACCOUNTS = 20
const ROUNDS = 3
/** Between the first request and the time at which the messages are due. */
const LEAD_MS = Number(process.env.BENCH_LEAD_MS ?? 8000)
const TEXT = 'Dear Grace,\r\n\r\nthe analytical engine weaves algebraic patterns.\r\n'.repeat(20)
const LIMIT = 0.6

type Child = ChildProcessByStdio<Writable, Readable, null>

/**
 * Sends 1,000 messages from 20 accounts to a local SMTP server, beside bare nodemailer with a pool of 20 connections; the two take turns.
 * Posthorn accepts the messages for one time in the near future, and is measured from then to the acceptance of the last message by the
 * server; how fast it accepts the requests is printed too. Prints the median of three rounds, and counts messages that were lost, sent
 * twice or arrived with another text. The copies in Sent are waited for after each round.
 */
export async function send(say: (line: string) => void): Promise<void> {
  const dovecot = await startDovecot()
  const sink = await startSink()
  try {
    await onEachStore(say, (title, place) => measure({ title, place, dovecot, sink, say }))
  } finally {
    sink.stop()
    await dovecot.stop()
  }
}

interface Bench {
  title: string
  place: Place
  dovecot: Dovecot
  sink: Sink
  say: (line: string) => void
}

async function measure({ title, place, dovecot, sink, say }: Bench): Promise<void> {
  const bare = await startBare(sink)
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info' } })
  try {
    const name = title.replaceAll(' ', '-').toLowerCase()
    const users = Array.from({ length: ACCOUNTS }, (_, index) => `${name}-${index}@mail.example`)
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    const accounts = await connectMailboxes(client(service.url, service.key), dovecot, users, sink)
    const accountIds = [...accounts.values()]
    const rounds: { bare: Figures; own: Figures & { requestsPerSecond: number } }[] = []
    // The first round, which opens connections and compiles code, does not count.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const names = Array.from({ length: MESSAGES }, (_, index) => `${title}-${round}-${index}`)
      const result = {
        bare: await timed(sink, bare.pid ?? 0, names, async () => {
          bare.stdin.write(`${JSON.stringify(names)}\n`)
          await once(bare.stdout, 'data')
        }),
        own: await ownRound(service, sink, accountIds, names),
      }
      await copied(dovecot, users, (round + 1) * MESSAGES)
      if (round > 0) rounds.push(result)
    }
    say(`bare nodemailer, beside the ${title}`.padEnd(40) + line(rounds.map((round) => round.bare)))
    say(`posthorn, ${title}`.padEnd(40) + line(rounds.map((round) => round.own)))
    const accepted = median(rounds.map(({ own }) => own.requestsPerSecond))
    say(`  requests accepted before               ${Math.round(accepted)}/s`)
    const ratio = median(rounds.map(({ bare, own }) => own.perSecond / bare.perSecond))
    say(`  posthorn / bare, per round             ${ratio.toFixed(2)} (limit ${LIMIT})`)
  } finally {
    bare.stdin.end()
    await service.stop()
  }
}

async function ownRound(service: ServiceProcess, sink: Sink, accountIds: readonly string[], names: readonly string[]) {
  const startedMs = Date.now()
  const dueMs = startedMs + LEAD_MS
  await requestAll(service, accountIds, names, new Date(dueMs).toISOString())
  const acceptedMs = Date.now()
  if (acceptedMs > dueMs - 100) throw new Error(`the requests took ${acceptedMs - startedMs} ms: set BENCH_LEAD_MS`)
  await new Promise((resolve) => setTimeout(resolve, dueMs - acceptedMs))
  const figures = await timed(sink, service.pid, names, async () => {})
  return { ...figures, requestsPerSecond: names.length / ((acceptedMs - startedMs) / 1000) }
}

interface Figures {
  perSecond: number
  /** Milliseconds of CPU per message. */
  cpuEach: number
  lost: number
  twice: number
  wrong: number
}

async function timed(
  sink: Sink,
  pid: number,
  subjects: readonly string[],
  begin: () => Promise<void>,
): Promise<Figures> {
  const cpuBefore = await cpuMs(pid)
  const startedAtMs = performance.timeOrigin + performance.now()
  await begin()
  await eventually(async () => (await sink.count()) >= subjects.length, 120_000, 20).catch(() => {})
  const cpu = (await cpuMs(pid)) - cpuBefore
  const accepted = await sink.take()
  const times = new Map(subjects.map((subject) => [subject, 0]))
  let wrong = 0
  for (const message of accepted) {
    const subject = expectedSubject(message)
    const count = subject === undefined ? undefined : times.get(subject)
    if (subject === undefined || count === undefined) wrong += 1
    else times.set(subject, count + 1)
  }
  const counts = [...times.values()]
  return {
    perSecond: (subjects.length / (Math.max(...accepted.map(({ atMs }) => atMs)) - startedAtMs)) * 1000,
    cpuEach: cpu / subjects.length,
    lost: counts.filter((count) => count === 0).length,
    twice: counts.filter((count) => count > 1).length,
    wrong,
  }
}

/** The subject of a message to the right recipient with the right text. */
function expectedSubject({ to, raw }: Accepted): string | undefined {
  const isRight = to.join() === 'bob@example.com' && raw.endsWith(`\r\n\r\n${TEXT}`)
  return isRight ? /^Subject: (.*)\r$/m.exec(raw)?.[1] : undefined
}

async function requestAll(
  service: ServiceProcess,
  accountIds: readonly string[],
  subjects: readonly string[],
  sendAt: string,
) {
  const headers = { 'x-api-key': service.key, 'content-type': 'application/json' }
  let next = 0
  const requests = accountIds.map(async () => {
    const connection = new Client(service.url)
    for (;;) {
      const index = next++
      const subject = subjects[index]
      if (subject === undefined) break
      const path = `/accounts/${accountIds[index % accountIds.length]}/messages/send`
      const body = JSON.stringify({ to: ['bob@example.com'], subject, body: TEXT, sendAt })
      const response = await connection.request({ path, method: 'POST', headers, body })
      const text = await response.body.text()
      if (response.statusCode >= 300) throw new Error(`${response.statusCode} ${text}`)
    }
    await connection.close()
  })
  await Promise.all(requests)
}

/** Waits until Sent has `count` messages in all. */
async function copied(dovecot: Dovecot, users: readonly string[], count: number): Promise<void> {
  const inSent = (user: string) =>
    otherClient(dovecot, user, PASSWORD, async (imap) => {
      const status = await imap.status('Sent', { messages: true })
      return status ? (status.messages ?? 0) : 0
    })
  await eventually(
    async () => {
      let found = 0
      for (const user of users) found += await inSent(user)
      return found >= count
    },
    120_000,
    200,
  )
}

interface Sink {
  host: string
  port: number
  count(): Promise<number>
  take(): Promise<Accepted[]>
  stop(): void
}

async function startSink(): Promise<Sink> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'bench/smtp-sink.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [ports] = await once(child.stdout, 'data')
  const { smtp: port, http } = JSON.parse(String(ports))
  const ask = (path: string) => fetch(`http://127.0.0.1:${http}/${path}`)
  return {
    host: '127.0.0.1',
    port,
    count: async () => Number(await (await ask('count')).text()),
    take: async () => (await (await ask('take')).json()) as Accepted[],
    stop: () => void child.kill(),
  }
}

async function startBare({ host, port }: Sink): Promise<Child> {
  const options: BareSender = { host, port, connections: ACCOUNTS, text: TEXT }
  const args = ['--import', 'tsx', 'bench/bare-sender.ts', JSON.stringify(options)]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

function line(rounds: readonly Figures[]): string {
  const rates = rounds.map(({ perSecond }) => Math.round(perSecond))
  const sum = (figure: (round: Figures) => number) => rounds.reduce((total, round) => total + figure(round), 0)
  return [
    `${median(rates)}/s (${rates.join(', ')})`,
    `${median(rounds.map(({ cpuEach }) => cpuEach)).toFixed(2)} ms of CPU each`,
    `lost ${sum((round) => round.lost)}, twice ${sum((round) => round.twice)}, wrong ${sum((round) => round.wrong)}`,
  ].join(' · ')
}
