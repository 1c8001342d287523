import { once } from 'node:events'
import { expect } from 'vitest'
import { sleep } from '../../src/platform/concurrency/abort.ts'
import type { Db } from '../../src/platform/db/index.ts'
import type { Place } from '../kit/database/database.ts'
import { openOnRedis } from '../kit/database/redis-parts.ts'
import { eventually } from '../kit/eventually.ts'
import { random } from '../kit/random/random.ts'
import { compose } from '../kit/service/composition.ts'
import { startWorker } from '../kit/workers/start.ts'
import type { Dovecot } from '../servers/dovecot.ts'
import { BOB, LATE, type SendingMailbox, startSendingServers } from './sending-mailboxes.ts'

export interface SendingCrashes {
  kills: number
  /** Processes that send at the same time; more than one needs PostgreSQL. */
  replicas: number
  /** Where jobs wait. Without it, in the database. */
  redisUrl?: string
}

export interface SendingCounts {
  messages: number
  sent: number
  uncertain: number
  /** Uncertain ones that the receiver has. */
  delivered: number
  /** Replies that were outstanding at the kills. */
  inReply: number
}

/** Messages of each mailbox for each kill. */
const PER_KILL = 2
/** A slow machine renews it in time: what a live process holds when its lease ends becomes uncertain, too. */
const LEASE_MS = 8000
/** A database may still do the last statement of a killed process. */
const LAST_STATEMENT_MS = 250
const DRAIN_MS = 300_000
/** A process that sends nothing for so long is killed as well. */
const MAX_WAIT_MS = 3000
let users = 0

/**
 * Sends messages from a mailbox of each kind while the sending processes are killed (SIGKILL) at random moments and started again.
 * Requires that the receiver gets no message twice, that every message is sent or ends uncertain without help, that only those are
 * uncertain that were between the message and its reply at a kill, that a recipient that was refused for now gets the message later,
 * that Sent has one copy of each sent message, and that drafts are left of uncertain ones only.
 */
export async function runSendingCrashes(
  db: Db,
  place: Place,
  dovecot: Dovecot,
  { kills, replicas, redisUrl = '' }: SendingCrashes,
): Promise<SendingCounts> {
  const chance = random()
  users += 1
  let open = 0
  let arrived = 0
  const servers = await startSendingServers(
    dovecot,
    `crash${process.pid}-${users}`,
    async () => {
      arrived += 1
      open += 1
      await sleep(chance() * 30)
      open -= 1
    },
    (recipient) => recipient === LATE && chance() < 0.6,
  )
  const { settings } = servers
  const redis = redisUrl === '' ? undefined : await openOnRedis(redisUrl)
  const { features, close } = compose(db, { ...redis?.parts, settings })
  const mailboxes = new Map<string, SendingMailbox>()
  for (const mailbox of servers.mailboxes) mailboxes.set(await mailbox.link(db, features), mailbox)
  const start = async () => {
    const args = [place.dataDir, place.databaseUrl ?? '', redisUrl, String(LEASE_MS), JSON.stringify(settings)]
    const child = startWorker('sending-worker', args)
    await once(child.stdout, 'data')
    return child
  }
  const accept = async (accountId: string, subject: string) => {
    const body = { to: [...(mailboxes.get(accountId)?.recipients ?? [])], subject, body: 'Hello' }
    const prepared = await features.outbox.prepareRequest(accountId, body)
    await db.transaction((tx) => features.outbox.accept(tx, prepared))
  }
  let inReply = 0
  /** Messages whose outcome a killed process may have taken with it, and those of the other processes at that moment. */
  const inDoubt = new Set<string>()
  const workers: Awaited<ReturnType<typeof start>>[] = []
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      // The file store permits one process: the messages are accepted before it starts.
      if (replicas > 1) while (workers.length < replicas) workers.push(await start())
      for (let index = 0; index < PER_KILL; index += 1) {
        for (const accountId of mailboxes.keys()) await accept(accountId, `${kill}-${index}`)
        if (replicas > 1) await sleep(chance() * 20)
      }
      while (workers.length < replicas) workers.push(await start())
      // Half of the kills follow a message that reached its receiver, so that many fall between a message and its reply.
      if (chance() < 0.5) await sleep(chance() * 400)
      else {
        const target = arrived + 1 + Math.floor(chance() * 4)
        for (const since = performance.now(); arrived < target && performance.now() < since + MAX_WAIT_MS; )
          await sleep(1)
        await sleep(chance() * 20)
      }
      inReply += open
      const [child] = workers.splice(Math.floor(chance() * workers.length), 1)
      child?.kill('SIGKILL')
      if (child !== undefined) await once(child, 'exit')
      await sleep(LAST_STATEMENT_MS)
      for (const id of await committedWithoutOutcome(db)) inDoubt.add(id)
    }
    workers.push(await start())
    const columns = ['id', 'accountId', 'subject', 'status', 'dueAt', 'refused'] as const
    const rows = () => db.read.selectFrom('outbox').select(columns).orderBy('id').execute()
    await eventually(async () => {
      for (const { status, dueAt } of await rows()) {
        expect(['sent', 'uncertain']).toContain(status)
        expect(dueAt).toBeNull()
      }
    }, DRAIN_MS)
    const all = await rows()
    const counts = { messages: all.length, sent: 0, uncertain: 0, delivered: 0, inReply }
    for (const [accountId, mailbox] of mailboxes) {
      const own = all.filter((row) => row.accountId === accountId)
      const withStatus = (status: string) => own.filter((row) => row.status === status)
      const sent = withStatus('sent').map(({ subject }) => subject)
      const uncertain = withStatus('uncertain').map(({ subject }) => subject)
      const received = mailbox.received(BOB)
      for (const recipient of mailbox.recipients) {
        const subjects = mailbox.received(recipient)
        expect(subjects.filter((subject, index) => subjects.indexOf(subject) !== index)).toEqual([])
      }
      const late = mailbox.received(LATE)
      const missed = own.filter(({ subject, status }) => status === 'sent' && !late.includes(subject))
      if (mailbox.recipients.includes(LATE)) {
        // Only a kill between the message and the reply can leave a recipient without it, and that is reported.
        for (const { refused } of missed) expect(JSON.parse(refused)).toMatchObject([{ email: LATE, code: null }])
        expect(missed.filter(({ id }) => !inDoubt.has(id))).toEqual([])
      }
      expect(sent.filter((subject) => !received.includes(subject))).toEqual([])
      expect(withStatus('uncertain').filter(({ id }) => !inDoubt.has(id))).toEqual([])
      expect((await mailbox.sent()).sort()).toEqual(sent.sort())
      expect(mailbox.drafts().filter((subject) => !uncertain.includes(subject))).toEqual([])
      counts.sent += sent.length
      counts.uncertain += uncertain.length
      counts.delivered += uncertain.filter((subject) => received.includes(subject)).length
    }
    return counts
  } finally {
    for (const child of workers) child.kill('SIGKILL')
    await Promise.all(
      workers.map((child) => (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined)),
    )
    await close()
    await redis?.link.close()
    await servers.close()
  }
}

/** Ids of the messages that a provider may have while nobody has stored its answer. */
async function committedWithoutOutcome(db: Db): Promise<string[]> {
  const rows = await db.read
    .selectFrom('outbox')
    .select('id')
    .where((eb) =>
      eb.or([
        eb.and([eb('committedAt', 'is not', null), eb('status', 'in', ['sending', 'uncertain'])]),
        eb('remaining', '=', 'resending'),
      ]),
    )
    .execute()
  return rows.map(({ id }) => id)
}
