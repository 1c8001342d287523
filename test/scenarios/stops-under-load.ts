import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { openDatabase } from '../kit/database/open-database.ts'
import { eventually } from '../kit/eventually.ts'
import { type ServicePlace, type ServiceProcess, SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startReceiver } from '../servers/receiver.ts'
import { startSmtpSink } from '../servers/smtp.ts'
import { expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { client } from './client.ts'
import { connectMailboxes, numberedMessage, PASSWORD, startMail, subscribe, userNames } from './mailboxes.ts'
import { openOwnershipJournal } from './ownership-journal.ts'
import { postToAny } from './repeated-requests.ts'

export interface StopScenario {
  /** How often a replica gets SIGTERM and is started again. */
  stops: number
  mailboxes: number
  /** Between two messages, two requests to send, and two bookings. */
  paceMs: number
  /** The checkout that a start runs, by its number; the first two start the replicas. Default: this one. */
  folderOf?(start: number): string | undefined
}

export interface StopCounts {
  announced: number
  /** Deliveries that arrived more than once. */
  duplicates: number
  sent: number
  booked: number
  backfilled: number
  longestExitMs: number
  longestTakeOverMs: number
}

/** How long the application, the SMTP server and the booking callback take for each request. */
const SLOW_MS = 300
const MANY_MS = 300_000
/** Messages in each mailbox before it is connected. Its first sync stores some of them. */
const OLD = 100
const FIRST_SYNC = { SYNC_INITIAL_MESSAGES: '10' }
const DAY_MS = 86_400_000

/**
 * Two replicas on PostgreSQL receive mail, send messages, take bookings and backfill their mailboxes, while one after the other gets SIGTERM and is started
 * again. A request without a response is repeated with its key at the other replica. Requires exit code 0, and that each message is
 * announced once, each accepted one sent once, each booking confirmed once, and each message of the backfill stored once and not announced.
 */
export async function runStopsUnderLoad(
  place: ServicePlace & { databaseUrl: string },
  { stops, mailboxes, paceMs, folderOf }: StopScenario,
): Promise<StopCounts> {
  const slowly = () => sleep(SLOW_MS)
  const [dovecot, application, smtp, callback] = await Promise.all([
    startDovecot(),
    startApplication({ delayMs: SLOW_MS }),
    startSmtpSink(),
    startReceiver(),
  ])
  smtp.behave({ message: () => slowly().then(() => undefined) })
  callback.always({ status: 200, body: '{}', delayMs: SLOW_MS })
  const users = userNames(mailboxes)
  let starts = 0
  const start = (port?: number) => {
    const folder = folderOf?.(starts)
    starts += 1
    return startServiceProcess({
      ...place,
      env: { ...SHARED_KEYS, ...FIRST_SYNC },
      ...(port !== undefined && { port }),
      ...(folder !== undefined && { folder }),
    })
  }
  const replicas: [ServiceProcess, ServiceProcess] = [await start(), await start()]
  const db = openDatabase({ dataDir: place.dataDir, databaseUrl: place.databaseUrl })
  const journal = await openOwnershipJournal(place.databaseUrl)
  let isStopped = false
  const loads: Promise<number>[] = []
  let mail: ReturnType<typeof startMail> | undefined

  const post = (path: string, body: object, key: string) => postToAny(replicas, { path, body, key })

  /** One request after the other. Returns how many were made. */
  async function load(request: (index: number) => Promise<void>): Promise<number> {
    for (let index = 0; ; index += 1) {
      if (isStopped) return index
      await request(index)
      await sleep(paceMs)
    }
  }

  try {
    const [{ url, key }] = replicas
    const api = client(url, key)
    const buildSubjects = (user: string) => Array.from({ length: OLD }, (_, index) => `old-${index}-of-${user}`)
    for (const user of users) {
      await dovecot.addUser(user, PASSWORD)
      const old = buildSubjects(user).map((subject) => Buffer.from(numberedMessage(subject)))
      await dovecot.deliverMany(user, old)
    }
    await subscribe(api, application, ['message.received'])
    const accounts = [...(await connectMailboxes(api, dovecot, users, smtp)).values()]
    await api.call('POST', '/scheduler/experiences', {
      slug: 'call',
      name: 'Call',
      timezone: 'UTC',
      bookingEndpoint: { url: callback.url },
      availability: {
        openHours: [{ days: [0, 1, 2, 3, 4, 5, 6], start: '00:00', end: '24:00' }],
        durationMinutes: 5,
        intervalMinutes: 5,
        reminders: [],
        maximumDaysAhead: 365,
      },
    })
    await eventually(() => journal.expectShares(2, mailboxes))
    await api.call('PUT', '/historical-sync/config', { batchSize: 5, delayBetweenBatches: 200 })
    for (const accountId of accounts) await api.call('POST', `/historical-sync/start/${accountId}`)
    mail = startMail(dovecot, users, paceMs)
    const sends = load((index) => {
      const path = `/accounts/${accounts[index % accounts.length]}/messages/send`
      return post(path, { to: ['bo@example.com'], subject: `send-${index}`, body: 'Hello' }, `send-${index}`)
    })
    const firstMs = Math.ceil(Date.now() / DAY_MS + 1) * DAY_MS
    const bookings = load((index) => {
      const start = new Date(firstMs + index * 300_000).toISOString()
      const guest = { email: `guest-${index}@example.com`, name: 'Guest' }
      return post('/scheduler/experiences/call/bookings', { slot: { start }, guest }, `booking-${index}`)
    })
    loads.push(sends, bookings)
    for (const load of loads) load.catch(() => {})

    const times = { longestExitMs: 0, longestTakeOverMs: 0 }
    for (let stop = 0; stop < stops; stop += 1) {
      await mail.more(20)
      const index = stop % 2
      const stopping = replicas[index]
      if (stopping === undefined) throw new Error('unreachable')
      const signalledMs = performance.now()
      expect(await stopping.stop()).toBe(0)
      times.longestExitMs = Math.max(times.longestExitMs, performance.now() - signalledMs)
      const exitedMs = performance.now()
      await eventually(() => journal.expectShares(1, mailboxes))
      times.longestTakeOverMs = Math.max(times.longestTakeOverMs, performance.now() - exitedMs)
      replicas[index] = await start(stopping.port)
      await eventually(() => journal.expectShares(2, mailboxes))
    }
    isStopped = true
    await mail.stop()
    const [asked, booked] = [await sends, await bookings]

    await eventually(async () => {
      const rows = await db.read.selectFrom('outbox').select('status').execute()
      expect(rows.map(({ status }) => status)).toEqual(Array.from({ length: asked }, () => 'sent'))
    }, MANY_MS)
    const subjects = smtp.messages.map(({ raw }) => /^Subject: (\S+)/im.exec(raw.toString())?.[1] ?? '')
    const sent = subjects.filter((subject) => subject.startsWith('send-'))
    expect(sent.sort()).toEqual(Array.from({ length: asked }, (_, index) => `send-${index}`).sort())
    await eventually(async () => {
      const rows = await db.read.selectFrom('bookings').select(['status', 'startMs']).execute()
      expect(rows.map(({ status }) => status)).toEqual(Array.from({ length: booked }, () => 'confirmed'))
      expect(new Set(rows.map(({ startMs }) => startMs)).size).toBe(booked)
      const due = await db.read.selectFrom('bookingTasks').select('id').where('dueAt', 'is not', null).execute()
      expect(due).toEqual([])
    }, MANY_MS)
    await eventually(async () => {
      const rows = await db.read.selectFrom('backfills').select('status').execute()
      expect(rows.map(({ status }) => status)).toEqual(accounts.map(() => 'completed'))
    }, MANY_MS)
    const stored = await db.read.selectFrom('messages').select('subject').where('subject', 'like', 'old-%').execute()
    expect(stored.map(({ subject }) => subject).sort()).toEqual(users.flatMap(buildSubjects).sort())
    const { events, duplicates } = await expectEachAnnouncedOnce(application, mail.subjects, MANY_MS)
    await journal.expectOneWriterPerEpoch()
    return { announced: events, duplicates, sent: sent.length, booked, backfilled: stored.length, ...times }
  } finally {
    isStopped = true
    await Promise.allSettled([...loads, mail?.stop()])
    await Promise.all(replicas.map((replica) => replica.stop()))
    await db.close()
    await journal.close()
    await Promise.all([dovecot.stop(), application.close(), smtp.close(), callback.close()])
  }
}
