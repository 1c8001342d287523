import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { type Samples, startProber } from '../../bench/prober.ts'
import { fieldValue } from '../kit/accounts/hosted.ts'
import { random } from '../kit/random/random.ts'
import { HEAP_PROBE, type ServicePlace, type ServiceProcess, startServiceProcess } from '../kit/service/process.ts'
import type { HostileAddresses, HostileOrder, HostileReport } from '../kit/workers/hostile-worker.ts'
import { type Dovecot, startDovecot } from '../servers/dovecot.ts'
import { GOOGLE_SCOPES, type Google, startGoogle } from '../servers/google.ts'
import { CALDAV_ATTACKS } from '../servers/hostile/caldav.ts'
import { HTTP_ATTACKS } from '../servers/hostile/http.ts'
import { IMAP_ATTACKS, IMAP_MOMENTS, imapUser } from '../servers/hostile/imap.ts'
import { MICROSOFT_SCOPES, type Microsoft, startMicrosoft } from '../servers/microsoft.ts'
import { startSmtpSink } from '../servers/smtp.ts'
import { type AnnouncementCounts, expectEachAnnouncedOnce } from './announcements.ts'
import { type Application, startApplication } from './application.ts'
import { type Client, client } from './client.ts'
import { sendScannedMessage } from './hostile-clicks.ts'
import { openBookingPage } from './hostile-guests.ts'
import { hostileMessage } from './hostile-messages.ts'
import { startEventStreams } from './hostile-streams.ts'
import { connectMailboxes, numberedMessage, PASSWORD, subscribe, userNames } from './mailboxes.ts'

export interface HostileScenario {
  /** How long the attacks last. */
  forMs: number
  /** Healthy mailboxes, which receive a message every `paceMs`; each tenth is hostile. */
  mailboxes: number
  paceMs: number
  /** Ordinary use before the first measurement of memory: code is compiled and caches fill at first use, friendly or not. */
  warmUpMs: number
  /** Between the end of the attacks and the last measurement of memory. */
  restMs: number
}

export interface HostileFigures {
  announced: AnnouncementCounts
  samples: Samples
  /** Resident memory before, the greatest during, and after the attacks, in bytes. */
  memory: { before: number; most: number; after: number }
  /** Requests of the callers by kind, and sign-ins to the hostile mail server. */
  calls: Record<string, number>
  /** Hostile accounts by status at the end. */
  accounts: Record<string, number>
}

/** The allocator that docs/operations.md recommends. glibc's keeps the pages of freed memory. */
const JEMALLOC = {
  LD_PRELOAD: 'libjemalloc.so.2',
  MALLOC_CONF: 'narenas:2,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:true',
}

const MOMENTS_AFTER_LOGIN = IMAP_MOMENTS.filter((at) => at !== 'LOGIN')
/** Commands of a sign-in. An attack at any other would link an account. */
const SIGN_IN_MOMENTS = ['LOGIN', 'LIST', 'STATUS'] as const
const SIGN_INS_AT_ONCE = 4
const OAUTH_ACCOUNTS = 3
const STREAM_KEYS = 20
const DAY_MS = 86_400_000

/**
 * Attacks a service that also syncs healthy mailboxes: linked mail and calendar servers that flood or drip at every request, sign-ins to such
 * servers, Gmail and Graph responses and webhook receivers without an end, and strangers with links, forms and slow connections.
 * Throws unless every healthy message was announced once and the process is still the same.
 */
export async function runHostile(place: ServicePlace, scenario: HostileScenario): Promise<HostileFigures> {
  const closers: (() => unknown)[] = []
  const opened = async <T>(opening: Promise<T>, close: (part: T) => unknown): Promise<T> => {
    const part = await opening
    closers.unshift(() => close(part))
    return part
  }
  try {
    const dovecot = await opened(startDovecot(), (part) => part.stop())
    const application = await opened(startApplication(), (part) => part.close())
    const google = await opened(startGoogle(), (part) => part.close())
    const microsoft = await opened(startMicrosoft(), (part) => part.close())
    const hostile = await opened(startHostileProcess(google, microsoft), ({ child }) => child.kill())
    const settings = {
      ...google.settings,
      ...microsoft.settings,
      ...HEAP_PROBE,
      ...JEMALLOC,
      GOOGLE_API_URL: hostile.addresses.google,
      MICROSOFT_GRAPH_URL: hostile.addresses.microsoft,
      APP_REDIRECT_URL: 'https://app.example/done',
      ...place.env,
    }
    const service = await opened(startServiceProcess({ ...place, env: settings }), (part) => part.stop())
    const libraries = await readFile(`/proc/${service.pid}/maps`, 'utf8')
    if (!libraries.includes(JEMALLOC.LD_PRELOAD)) throw new Error('The package libjemalloc2 is not installed.')
    const prober = await opened(startProber(service.url, '/accounts?limit=50', service.key), (part) => part.stop())
    // Applications, guests and attackers use machines of their own: what this process plays must not take the service's time.
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
    const api = client(service.url, service.key)

    const users = await connectHealthy(api, dovecot, application, scenario)
    const deliver = delivery(dovecot, users)
    const smtp = await opened(startSmtpSink({ plain: true }), (part) => part.close())
    const scanned = await opened(sendScannedMessage(api, service.url, dovecot, smtp), (part) => part.close())
    const page = await openBookingPage(api, service.url, scanned.accountId)
    const streams = startEventStreams(service.url, await streamKeys(api), { reading: 50, stalled: 50 })
    await connectHostile(api, hostile.addresses, google, microsoft)
    const readings = startReading(api, application)
    const calendars = startCalendarReads(api)
    const visits = startVisits(api, service.url)
    page.attack(scenario.paceMs)
    scanned.attack(scenario.paceMs)
    await deliver.everyFor(scenario.paceMs, scenario.warmUpMs)
    await visits.stop()
    const before = await restingMemory(service)
    await prober.take()

    hostile.send({ order: 'attack', url: service.url, codes: await openSessions(api, 20), page: page.known })
    const signIns = startSignIns(api, hostile.addresses.imapPort)
    const watched = watchMaximum(service)
    await deliver.everyFor(scenario.paceMs, scenario.forMs)
    const samples = await prober.take()
    const report = once(hostile.child, 'message')
    hostile.send({ order: 'calm' })
    const [{ calls }] = (await report) as [HostileReport]
    const clicks = await scanned.stop()
    const { booked, messages } = await page.stop(smtp)
    const subjects = [...deliver.subjects, ...scanned.replies]
    const done = {
      clicks,
      booked,
      messages,
      signIns: await signIns.stop(),
      readings: await readings.stop(),
      calendars: await calendars.stop(),
    }
    const announced = await expectEachAnnouncedOnce(application, subjects, 120_000)
    const streamed = await streams.stop(subjects)
    const most = watched.stop()
    const accounts = await hostileStates(api)
    await sleep(scenario.restMs)
    const after = await restingMemory(service)
    process.kill(service.pid, 0)
    return {
      announced,
      samples,
      memory: { before, most, after },
      calls: { ...calls, ...done, streams: streamed },
      accounts,
    }
  } finally {
    for (const close of closers) await close()
  }
}

async function startHostileProcess(google: Google, microsoft: Microsoft) {
  const seed = String(Math.floor(random()() * 2 ** 31))
  const file = join(inject('workers'), 'hostile-worker.mjs')
  const child: ChildProcess = spawn(process.execPath, [file, google.url, microsoft.url, seed], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  setPriority(child.pid ?? 0, constants.priority.PRIORITY_BELOW_NORMAL)
  const [addresses] = (await once(child, 'message')) as [HostileAddresses]
  return { child, addresses, send: (order: HostileOrder) => void child.send(order) }
}

async function connectHealthy(api: Client, dovecot: Dovecot, application: Application, scenario: HostileScenario) {
  const users = userNames(scenario.mailboxes)
  for (const user of users) await dovecot.addUser(user, PASSWORD)
  await subscribe(api, application, ['message.received'])
  await connectMailboxes(api, dovecot, users)
  return users
}

/** Links mailboxes of servers that behave well so far, and webhook endpoints. */
async function connectHostile(api: Client, addresses: HostileAddresses, google: Google, microsoft: Microsoft) {
  for (const at of MOMENTS_AFTER_LOGIN) {
    for (const attack of IMAP_ATTACKS)
      await api.call('POST', '/accounts', mailbox(imapUser(at, attack), addresses.imapPort))
  }
  for (const attack of CALDAV_ATTACKS) {
    const quiet = mailbox(`quiet.${attack}`, addresses.imapPort)
    const calendars = { caldavUrl: `${addresses.caldav}/${attack}/`, caldavUsername: 'eve', caldavPassword: 'x' }
    await api.call('POST', '/accounts', { ...quiet, ...calendars })
  }
  for (let index = 0; index < OAUTH_ACCOUNTS; index += 1) {
    const email = `oauth${index}@mail.example`
    for (const [provider, site, scopes] of [
      ['gmail', google, GOOGLE_SCOPES],
      ['microsoft', microsoft, MICROSOFT_SCOPES],
    ] as const) {
      site.addUser(email)
      const { refreshToken } = await site.grant(email, [...scopes])
      await api.call('POST', '/accounts', { provider, email, refreshToken })
    }
  }
  for (const attack of HTTP_ATTACKS) {
    const url = `${addresses.receiver}/hook/${attack}`
    await api.call('POST', '/webhooks/endpoints', { url, eventTypes: ['message.received'], timeoutMs: 5000 })
  }
}

/** Keys of programs that stream events. */
async function streamKeys(api: Client): Promise<string[]> {
  const keys: string[] = []
  while (keys.length < STREAM_KEYS) {
    const { key } = await api.call<{ key: string }>('POST', '/api-keys', {
      name: `stream ${keys.length}`,
      scopes: ['read'],
    })
    keys.push(key)
  }
  return keys
}

function mailbox(username: string, port: number) {
  return {
    provider: 'imap',
    email: `${username}@hostile.example`,
    username,
    password: 'x',
    host: '127.0.0.1',
    port,
    secure: true,
    allowSelfSigned: true,
  }
}

function delivery(dovecot: Dovecot, users: readonly string[]) {
  const subjects: string[] = []
  return {
    subjects,
    async everyFor(paceMs: number, forMs: number): Promise<void> {
      const endMs = performance.now() + forMs
      while (performance.now() < endMs) {
        const subject = `healthy-${subjects.length}`
        const text = subjects.length % 10 === 9 ? hostileMessage(subject, subjects.length) : numberedMessage(subject)
        await dovecot.deliver(users[subjects.length % users.length] ?? '', text)
        subjects.push(subject)
        await sleep(paceMs)
      }
    },
  }
}

async function openSessions(api: Client, count: number): Promise<string[]> {
  const sessions = Array.from({ length: count }, () => api.call<{ code: string }>('POST', '/auth/sessions', {}))
  return (await Promise.all(sessions)).map(({ code }) => code)
}

/** Connects mailboxes of servers that attack during the sign-in. */
function startSignIns(api: Client, port: number) {
  const users = SIGN_IN_MOMENTS.flatMap((at) => IMAP_ATTACKS.map((attack) => imapUser(at, attack)))
  return loops(SIGN_INS_AT_ONCE, async (count) => {
    await api.call('POST', '/accounts', mailbox(`${users[count % users.length]}.${count}`, port))
  })
}

/** Reads received messages with their bodies, as the application does. */
function startReading(api: Client, application: Application) {
  return loops(1, async (count) => {
    const events = [...application.received.values()]
    const event = events[count % Math.max(1, events.length)]
    if (event !== undefined) await api.call('GET', `/accounts/${event.accountId}/messages/${event.objectId}`)
    await sleep(500)
  })
}

/** Reads calendars live and asks when their owners are free, one account after the other. */
function startCalendarReads(api: Client) {
  return loops(2, async (count) => {
    const { accounts } = await api.call<{ accounts: { id: string; email: string }[] }>('GET', '/accounts?limit=200')
    const hostile = accounts.filter(({ email }) => email.startsWith('quiet.'))
    const account = hostile[count % Math.max(1, hostile.length)]
    if (account === undefined) return void (await sleep(500))
    const fromMs = Date.now() + (count % 300) * DAY_MS
    const range = { startTime: new Date(fromMs).toISOString(), endTime: new Date(fromMs + DAY_MS).toISOString() }
    const body = { ...range, participants: [account.email], intervalMinutes: 30 }
    await api.call('POST', `/accounts/${account.id}/availability`, body, { 'cache-control': 'no-cache' })
    await sleep(200)
  })
}

/** Opens the hosted page and enters a mail server that does not exist, as people do. */
function startVisits(api: Client, url: string) {
  return loops(1, async () => {
    const [code = ''] = await openSessions(api, 1)
    const page = await fetch(`${url}/auth/authorize?session=${code}`, { headers: { accept: 'text/html' } })
    const cookie = page.headers.getSetCookie().map((value) => value.split(';', 1)[0])
    const state = fieldValue(await page.text(), 'state')
    const fields = { session: code, state, email: 'ada@nowhere.invalid', host: 'mail.nowhere.invalid', password: 'x' }
    const posted = await fetch(`${url}/auth/authorize/imap`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { accept: 'text/html', cookie: cookie.join('; ') },
    })
    await posted.text()
    await sleep(3000)
  })
}

/** Calls `body` again and again, ignoring its errors. `stop` returns how often. */
function loops(concurrency: number, body: (count: number) => Promise<void>) {
  let isStopped = false
  let count = 0
  const running = Array.from({ length: concurrency }, async () => {
    while (!isStopped) {
      count += 1
      await body(count).catch(() => sleep(100))
    }
  })
  return {
    async stop(): Promise<number> {
      isStopped = true
      await Promise.all(running)
      return count
    },
  }
}

async function hostileStates(api: Client): Promise<Record<string, number>> {
  const states: Record<string, number> = {}
  for (let page = 1, more = true; more; page += 1) {
    const list = await api.call<{ accounts: { email: string; status: string }[]; pagination: { hasNext: boolean } }>(
      'GET',
      `/accounts?limit=200&page=${page}`,
    )
    for (const { email, status } of list.accounts) {
      if (email.endsWith('@hostile.example')) states[status] = (states[status] ?? 0) + 1
    }
    more = list.pagination.hasNext
  }
  return states
}

/** Resident memory after a garbage collection. */
async function restingMemory(service: ServiceProcess): Promise<number> {
  await service.heapBytesAfterGc()
  await sleep(1000)
  return service.memoryBytes()
}

function watchMaximum(service: ServiceProcess) {
  let most = 0
  const timer = setInterval(() => {
    void service.memoryBytes().then((bytes) => {
      most = Math.max(most, bytes)
    })
  }, 250)
  return {
    stop(): number {
      clearInterval(timer)
      return most
    },
  }
}
