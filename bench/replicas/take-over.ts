import type { TLSSocket } from 'node:tls'
import { eventually } from '../../test/kit/eventually.ts'
import type { Client } from '../../test/scenarios/client.ts'
import { connectMailboxes, numberedMessage, PASSWORD } from '../../test/scenarios/mailboxes.ts'
import type { Dovecot } from '../../test/servers/dovecot.ts'
import { startScriptedImap } from '../../test/servers/scripted-imap.ts'
import { type Recorder, startRecorder } from '../recorder.ts'
import { judge, sayVerdict } from '../verdict.ts'
import { type Installation, openInstallation } from './installation.ts'

const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 5_000)
/** The instance that is killed changes with each. */
const KILLS = Number(process.env.BENCH_KILLS ?? 2)
/** An instance logs in to one host 100 times a second, so the accounts have many. */
const HOSTS = Number(process.env.BENCH_HOSTS ?? 100)
/** Mailboxes of a real server, which receive a message each. */
const RECEIVING = 20
const AT_ONCE = 16
const PATIENCE_MS = 600_000
const LIMIT_S = 10

/**
 * Kills one of two instances that share 5,000 IMAP accounts of a scripted server. Measures until every account has a connection that waits for
 * changes, and until messages that arrive at once in mailboxes of a real server are announced.
 */
export async function measureTakeOver(say: (line: string) => void, serverUrl: string, dovecot: Dovecot): Promise<void> {
  const mailboxes = await startMailboxes()
  const recorder = await startRecorder()
  const installation = await openInstallation(serverUrl, 2)
  try {
    const { api } = installation
    const receiving = Array.from({ length: RECEIVING }, (_, index) => `take-over-${index}@mail.example`)
    for (const user of receiving) await dovecot.addUser(user, PASSWORD)
    const body = { url: new URL('/take-over', recorder.url).href, eventTypes: ['message.received'] }
    await api.call('POST', '/webhooks/endpoints', body)
    const startedMs = performance.now()
    await link(api, mailboxes.port)
    await connectMailboxes(api, dovecot, receiving)
    await areConnected(mailboxes)
    say(`${ACCOUNTS} accounts of ${HOSTS} hosts connected after ${seconds(performance.now() - startedMs)}`)
    const samples: number[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      await hasShares(installation)
      const measured = await measureKill(installation, kill, { mailboxes, dovecot, receiving, recorder })
      samples.push(Math.max(measured.connectedS, measured.announcedS))
      say(
        `  ${measured.accounts} accounts lost their connection; each had another after ${measured.connectedS.toFixed(1)} s, half of them after ${measured.halfS.toFixed(1)} s; messages announced after ${measured.announcedS.toFixed(1)} s`,
      )
    }
    const about = {
      bench: 'replicas',
      what: `take-over of half of ${ACCOUNTS.toLocaleString('en')} accounts`,
      unit: 's',
    }
    sayVerdict(say, judge({ ...about, limit: { atMost: LIMIT_S } }, { ours: samples }))
  } finally {
    await installation.close()
    recorder.stop()
    await mailboxes.close()
  }
}

interface Mailboxes {
  port: number
  /** Users with a connection that waits for changes. */
  idleUsers(): number
  close(): Promise<void>
}

/** Empty mailboxes of any user, on every loopback address. */
async function startMailboxes(): Promise<Mailboxes> {
  const users = new Map<TLSSocket, string>()
  const idle = new Map<string, Set<TLSSocket>>()
  const end = (socket: TLSSocket, user: string) => {
    users.delete(socket)
    idle.get(user)?.delete(socket)
    if (idle.get(user)?.size === 0) idle.delete(user)
  }
  const server = await startScriptedImap({
    host: '0.0.0.0',
    onCommand(name, socket, _tag, line) {
      if (name === 'LOGIN') {
        const user = line.split(' ')[2]?.replaceAll('"', '') ?? ''
        users.set(socket, user)
        socket.once('close', () => end(socket, user))
      }
      return false
    },
    onIdle(_say, socket) {
      const user = users.get(socket) ?? ''
      idle.set(user, (idle.get(user) ?? new Set()).add(socket))
    },
  })
  return {
    port: server.access.settings.imap?.port ?? 0,
    idleUsers: () => idle.size,
    close: () => server.close(),
  }
}

async function link(api: Client, port: number): Promise<void> {
  let next = 0
  const linkSome = async () => {
    while (next < ACCOUNTS) {
      const index = next++
      const user = `user${index}@mail.example`
      await api.call('POST', '/accounts', {
        provider: 'imap',
        email: user,
        username: user,
        password: 'secret',
        host: `127.0.1.${1 + (index % HOSTS)}`,
        port,
        secure: true,
        allowSelfSigned: true,
      })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, linkSome))
}

function areConnected(mailboxes: Mailboxes): Promise<void> {
  return eventually(
    () => {
      if (mailboxes.idleUsers() < ACCOUNTS) throw new Error(`${mailboxes.idleUsers()} of ${ACCOUNTS} are connected`)
    },
    PATIENCE_MS,
    50,
  )
}

/** Each instance owns half of the accounts. */
async function hasShares({ recording }: Installation): Promise<void> {
  await eventually(
    async () => {
      const rows = await recording.db.read
        .selectFrom('accounts')
        .select(['ownerInstance', (eb) => eb.fn.countAll<number>().as('count')])
        .groupBy('ownerInstance')
        .execute()
      const counts = rows.map(({ count }) => Number(count))
      if (counts.length !== 2 || Math.abs((counts[0] ?? 0) - (counts[1] ?? 0)) > 1)
        throw new Error(`The instances own ${counts.join(' and ')} accounts`)
    },
    PATIENCE_MS,
    500,
  )
}

interface Kill {
  mailboxes: Mailboxes
  dovecot: Dovecot
  receiving: readonly string[]
  recorder: Recorder
}

interface KillFigures {
  accounts: number
  halfS: number
  connectedS: number
  announcedS: number
}

async function measureKill(
  installation: Installation,
  kill: number,
  { mailboxes, dovecot, receiving, recorder }: Kill,
): Promise<KillFigures> {
  await areConnected(mailboxes)
  await recorder.take()
  const index = 1 - (kill % 2)
  const startedMs = performance.now()
  const killedAtMs = performance.timeOrigin + startedMs
  const sinceS = () => (performance.now() - startedMs) / 1000
  await installation.instances[index]?.kill()
  const subjects = receiving.map((_, receiver) => `kill-${kill}-${receiver}`)
  await Promise.all(receiving.map((user, receiver) => dovecot.deliver(user, numberedMessage(subjects[receiver] ?? ''))))
  // Their connections end within moments, long before another instance takes over.
  await eventually(() => mailboxes.idleUsers() < 0.6 * ACCOUNTS, PATIENCE_MS, 10)
  const accounts = ACCOUNTS - mailboxes.idleUsers()
  await eventually(() => mailboxes.idleUsers() >= ACCOUNTS - accounts / 2, PATIENCE_MS, 10)
  const halfS = sinceS()
  await areConnected(mailboxes)
  const connectedS = sinceS()
  await eventually(async () => (await recorder.count()) >= subjects.length, PATIENCE_MS, 20)
  const requests = await recorder.take()
  const announced = requests.map(({ body }): string => JSON.parse(body).data.subject)
  if (announced.toSorted().join() !== subjects.toSorted().join())
    throw new Error(`Announced ${announced.join()} in place of ${subjects.join()}.`)
  const announcedS = (Math.max(...requests.map(({ atMs }) => atMs)) - killedAtMs) / 1000
  await installation.restart(index)
  return { accounts, halfS, connectedS, announcedS }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
