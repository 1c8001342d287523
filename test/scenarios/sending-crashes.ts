import { once } from 'node:events'
import { expect } from 'vitest'
import type { Db } from '../../src/infra/db/index.ts'
import { sleep } from '../../src/lib/abort.ts'
import { compose } from '../kit/composition.ts'
import type { Place } from '../kit/database.ts'
import { eventually } from '../kit/eventually.ts'
import { random } from '../kit/random.ts'
import { startWorker } from '../kit/worker.ts'
import type { Dovecot } from '../servers/dovecot.ts'
import { type SendingMailbox, startSendingServers } from './sending-mailboxes.ts'

export interface SendingCrashes {
  kills: number
  /** Processes that send at the same time; more than one needs PostgreSQL. */
  replicas: number
}

export interface SendingCounts {
  messages: number
  sent: number
  uncertain: number
}

/** Messages of each mailbox for each kill. */
const PER_KILL = 2
const LEASE_MS = 1000
let users = 0

/**
 * Sends messages from a mailbox of each kind while the sending processes are killed (SIGKILL) at random moments and started again.
 * Requires that the receiver gets no message twice, that every message is sent or ends uncertain without help, that no more than one
 * per kill and mailbox is uncertain, that Sent has one copy of each sent message, and that drafts are left of uncertain ones only.
 */
export async function runSendingCrashes(
  db: Db,
  place: Place,
  dovecot: Dovecot,
  { kills, replicas }: SendingCrashes,
): Promise<SendingCounts> {
  const chance = random()
  users += 1
  const servers = await startSendingServers(dovecot, `crash${process.pid}-${users}`, () => chance() * 30)
  const { settings } = servers
  const { features, close } = compose(db, { settings })
  const mailboxes = new Map<string, SendingMailbox>()
  for (const mailbox of servers.mailboxes) mailboxes.set(await mailbox.link(db, features), mailbox)
  const start = async () => {
    const args = [place.dataDir, place.databaseUrl ?? '', String(LEASE_MS), JSON.stringify(settings)]
    const child = startWorker('sending-worker', args)
    await once(child.stdout, 'data')
    return child
  }
  const accept = async (accountId: string, subject: string) => {
    const body = { to: ['bob@example.com'], subject, body: 'Hello' }
    const prepared = await features.outbox.prepareRequest(accountId, body)
    await db.transaction((tx) => features.outbox.accept(tx, prepared))
  }
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
      await sleep(chance() * 400)
      const [child] = workers.splice(Math.floor(chance() * workers.length), 1)
      child?.kill('SIGKILL')
      if (child !== undefined) await once(child, 'exit')
    }
    workers.push(await start())
    const columns = ['accountId', 'subject', 'status', 'dueAt'] as const
    const rows = () => db.read.selectFrom('outbox').select(columns).orderBy('id').execute()
    await eventually(async () => {
      for (const { status, dueAt } of await rows()) {
        expect(['sent', 'uncertain']).toContain(status)
        expect(dueAt).toBeNull()
      }
    })
    const all = await rows()
    const counts = { messages: all.length, sent: 0, uncertain: 0 }
    for (const [accountId, mailbox] of mailboxes) {
      const own = all.filter((row) => row.accountId === accountId)
      const subjects = (status: string) => own.filter((row) => row.status === status).map(({ subject }) => subject)
      const [sent, uncertain] = [subjects('sent').sort(), subjects('uncertain')]
      const received = mailbox.received()
      expect(received.filter((subject, index) => received.indexOf(subject) !== index)).toEqual([])
      expect(sent.filter((subject) => !received.includes(subject))).toEqual([])
      expect(uncertain.length).toBeLessThanOrEqual(kills)
      expect((await mailbox.sent()).sort()).toEqual(sent)
      expect(mailbox.drafts().filter((subject) => !uncertain.includes(subject))).toEqual([])
      counts.sent += sent.length
      counts.uncertain += uncertain.length
    }
    return counts
  } finally {
    for (const child of workers) child.kill('SIGKILL')
    await Promise.all(
      workers.map((child) => (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined)),
    )
    await close()
    await servers.close()
  }
}
