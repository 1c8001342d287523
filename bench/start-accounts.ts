import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { type Client, client } from '../test/scenarios/client.ts'
import { connectMailboxes, PASSWORD, userNames } from '../test/scenarios/mailboxes.ts'
import { type Dovecot, startDovecot } from '../test/servers/dovecot.ts'
import { startScriptedImap } from '../test/servers/scripted-imap.ts'
import type { BareIdlers } from './bare-idlers.ts'
import { startBareProcess } from './bare-process.ts'
import { type LiveMail, startLiveMail } from './live-mail.ts'
import { type Recorder, startRecorder } from './recorder.ts'
import { inTurns } from './rounds.ts'
import { KEY, startUntilReady } from './start-process.ts'
import { judge, type Limit, sayVerdict } from './verdict.ts'

export const DOVECOT_ACCOUNTS = 50
/** Logins to one host are paced, so that 5,000 at one host would take 50 seconds. */
const HOSTS = 100
/** In which messages arrive while the others connect. Hosts take turns, so that these few of one host are among the first to connect. */
const LIVE_ACCOUNTS = 4
/** As many as the service syncs at once. */
const BARE_AT_ONCE = 64
const LINKING_AT_ONCE = 16
const CONNECTED: Limit = { ratioAtMost: 1.5 }
const HEALTHY: Limit = { atMost: 600 }
const ANNOUNCED: Limit = { atMost: 5_000 }
const PATIENCE_MS = 300_000
const CHECK_MS = 20

/** From healthy until 50 accounts of Dovecot are connected, all of one host. */
export async function connectDovecot(say: (line: string) => void): Promise<void> {
  await withStore(async (dataDir) => {
    const dovecot = await startDovecot()
    try {
      const users = await addUsers(dovecot, userNames(DOVECOT_ACCOUNTS))
      const linking = await startServiceProcess({ dataDir })
      await connectMailboxes(client(linking.url, linking.key), dovecot, users)
      await linking.stop()
      const server = { host: dovecot.host, port: dovecot.imapsPort, password: PASSWORD }
      const compared = await inTurns(
        async () => (await restart(dataDir, users.length)).connectedMs,
        () => connectBareClients({ ...server, users, atOnce: BARE_AT_ONCE }),
      )
      const what = `${DOVECOT_ACCOUNTS} accounts connected, after healthy`
      sayVerdict(say, judge({ bench: 'start', what, unit: 'ms', limit: CONNECTED }, compared))
    } finally {
      await dovecot.stop()
    }
  })
}

/** The same for accounts of 100 hosts, and how soon messages are delivered that arrive meanwhile in four further mailboxes. */
export async function connectScripted(accounts: number, say: (line: string) => void): Promise<void> {
  await withStore(async (dataDir) => {
    const dovecot = await startDovecot()
    const scripted = await startScriptedImap({ host: '0.0.0.0' })
    const recorder = await startRecorder()
    try {
      const port = scripted.access.settings.imap?.port ?? 0
      const users = userNames(accounts)
      const liveUsers = await addUsers(
        dovecot,
        Array.from({ length: LIVE_ACCOUNTS }, (_, index) => `live${index}@mail.example`),
      )
      const secret = await link({ dataDir, dovecot, recorder, users, liveUsers, port })
      const healthyMs: number[] = []
      const slowestMs: number[] = []
      const compared = await inTurns(
        async (round) => {
          const total = users.length + liveUsers.length
          const startMail = () => startLiveMail({ dovecot, recorder, secret }, liveUsers, `live-${round}`)
          const run = await restart(dataDir, total, startMail)
          healthyMs.push(run.healthyMs)
          slowestMs.push(run.slowestMs)
          return run.connectedMs
        },
        () => connectBareClients({ host: '127.0.0.1', port, password: PASSWORD, users, atOnce: BARE_AT_ONCE }),
      )
      const about = (what: string) => ({
        bench: 'start',
        what: `${accounts.toLocaleString('en')} accounts, ${what}`,
      })
      sayVerdict(say, judge({ ...about('healthy'), unit: 'ms', limit: HEALTHY }, { ours: healthyMs }))
      sayVerdict(say, judge({ ...about('connected'), unit: 'ms', limit: CONNECTED }, compared))
      sayVerdict(say, judge({ ...about('new message'), unit: 'ms', limit: ANNOUNCED }, { ours: slowestMs }))
    } finally {
      recorder.stop()
      await scripted.close()
      await dovecot.stop()
    }
  })
}

interface Linking {
  dataDir: string
  dovecot: Dovecot
  recorder: Recorder
  users: readonly string[]
  liveUsers: readonly string[]
  port: number
}

/** Connects all accounts once. Returns the secret of the recorder's endpoint. */
async function link({ dataDir, dovecot, recorder, users, liveUsers, port }: Linking): Promise<string> {
  const linking = await startServiceProcess({ dataDir })
  try {
    const api = client(linking.url, linking.key)
    const endpoint = { url: recorder.url, eventTypes: ['message.received'] }
    const { secret } = await api.call<{ secret: string }>('POST', '/webhooks/endpoints', endpoint)
    await connectMailboxes(api, dovecot, liveUsers)
    await createAtOnce(api, users, port)
    await allRan(api, users.length + liveUsers.length)
    return secret
  } finally {
    await linking.stop()
  }
}

async function createAtOnce(api: Client, users: readonly string[], port: number): Promise<void> {
  let next = 0
  const createSome = async () => {
    while (next < users.length) {
      const index = next
      next += 1
      await api.call('POST', '/accounts', {
        provider: 'imap',
        email: users[index],
        username: users[index],
        password: PASSWORD,
        host: `127.0.0.${2 + (index % HOSTS)}`,
        port,
        secure: true,
        allowSelfSigned: true,
      })
    }
  }
  await Promise.all(Array.from({ length: LINKING_AT_ONCE }, createSome))
}

interface Restart {
  /** From the start of the process. In ms, as the others. */
  healthyMs: number
  /** From healthy until every account has run once without a failure, so that its connection is open and waits for changes. */
  connectedMs: number
  /** From the delivery of a message that arrived meanwhile to its webhook. */
  slowestMs: number
}

async function restart(dataDir: string, accounts: number, startMail?: () => LiveMail): Promise<Restart> {
  const service = await startUntilReady(dataDir)
  try {
    const startedMs = performance.now()
    const mail = startMail?.()
    await allRan(client(service.url, KEY), accounts)
    const connectedMs = performance.now() - startedMs
    return { healthyMs: service.readyMs, connectedMs, slowestMs: (await mail?.stop()) ?? 0 }
  } finally {
    await service.stop()
  }
}

async function allRan(api: Client, accounts: number): Promise<void> {
  const startedMs = performance.now()
  for (;;) {
    const totals = await api.call<{ completed: number; failed: number }>('GET', '/debounced-queue/status')
    if (totals.failed > 0) throw new Error(`${totals.failed} syncs failed`)
    if (totals.completed >= accounts) return
    if (performance.now() - startedMs > PATIENCE_MS) throw new Error(`${totals.completed} of ${accounts} accounts ran`)
    await sleep(CHECK_MS)
  }
}

async function connectBareClients(options: BareIdlers): Promise<number> {
  const bare = await startBareProcess('bench/bare-idlers.ts', options)
  bare.stop()
  return Number(bare.output)
}

async function addUsers(dovecot: Dovecot, users: readonly string[]): Promise<readonly string[]> {
  for (const user of users) await dovecot.addUser(user, PASSWORD)
  return users
}

async function withStore(run: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-bench-'))
  try {
    await run(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}
