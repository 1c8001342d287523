import { once } from 'node:events'
import { expect } from 'vitest'
import type { Db } from '../../src/infra/db/index.ts'
import { sleep } from '../../src/lib/abort.ts'
import { imapLink } from '../kit/accounts.ts'
import { compose } from '../kit/composition.ts'
import type { Place } from '../kit/database.ts'
import { eventually } from '../kit/eventually.ts'
import { random } from '../kit/random.ts'
import { startWorker } from '../kit/worker.ts'
import type { Dovecot } from '../servers/dovecot.ts'
import { otherClient } from '../servers/imap-mailbox.ts'
import { startSmtpSink } from '../servers/smtp.ts'

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

const PASSWORD = 'one'
/** Messages for each kill. */
const PER_KILL = 4
const LEASE_MS = 1000
let users = 0

/**
 * Sends messages while the sending processes are killed (SIGKILL) at random moments and started again. Requires that the receiver gets
 * no message twice, that every message is sent or ends uncertain without help, that no more than one per kill is uncertain, and that Sent
 * has one copy of each sent message.
 */
export async function runSendingCrashes(
  db: Db,
  place: Place,
  dovecot: Dovecot,
  { kills, replicas }: SendingCrashes,
): Promise<SendingCounts> {
  const chance = random()
  const smtp = await startSmtpSink()
  // Time between the last byte of a message and the reply, in which a kill leaves the outcome unknown.
  smtp.behave({ message: () => sleep(chance() * 30).then(() => undefined) })
  users += 1
  const user = `crash${process.pid}-${users}`
  await dovecot.addUser(user, PASSWORD)
  const { features, close } = compose(db)
  const { id: accountId } = await db.transaction((tx) =>
    features.accounts.link(
      tx,
      imapLink({
        ...{ email: `${user}@acme.example`, providerUser: user, secrets: { password: PASSWORD } },
        settings: {
          imap: {
            ...{ host: dovecot.host, port: dovecot.imapsPort, username: user, security: 'tls' },
            ...{ allowSelfSigned: true, mailbox: 'INBOX' },
          },
          smtp: { host: smtp.host, port: smtp.port, security: 'starttls' },
        },
      }),
    ),
  )
  const start = async () => {
    const child = startWorker('sending-worker', [place.dataDir, place.databaseUrl ?? '', String(LEASE_MS)])
    await once(child.stdout, 'data')
    return child
  }
  const accept = async (subject: string) => {
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
        await accept(`${kill}-${index}`)
        if (replicas > 1) await sleep(chance() * 20)
      }
      while (workers.length < replicas) workers.push(await start())
      await sleep(chance() * 400)
      const [child] = workers.splice(Math.floor(chance() * workers.length), 1)
      child?.kill('SIGKILL')
      if (child !== undefined) await once(child, 'exit')
    }
    workers.push(await start())
    const rows = () =>
      db.read.selectFrom('outbox').select(['subject', 'status', 'rfcMessageId', 'dueAt']).orderBy('id').execute()
    await eventually(async () => {
      for (const { status, dueAt } of await rows()) {
        expect(['sent', 'uncertain']).toContain(status)
        expect(dueAt).toBeNull()
      }
    })
    const all = await rows()
    const received = smtp.messages.map(({ raw }) => /^Subject: (\S+)/im.exec(raw.toString())?.[1] ?? '')
    expect(received.filter((subject, index) => received.indexOf(subject) !== index)).toEqual([])
    const sent = all.filter(({ status }) => status === 'sent')
    expect(sent.filter(({ subject }) => !received.includes(subject))).toEqual([])
    const uncertain = all.filter(({ status }) => status === 'uncertain')
    expect(uncertain.length).toBeLessThanOrEqual(kills)
    expect((await copiesIn(dovecot, user)).sort()).toEqual(sent.map(({ rfcMessageId }) => rfcMessageId).sort())
    return { messages: all.length, sent: sent.length, uncertain: uncertain.length }
  } finally {
    for (const child of workers) child.kill('SIGKILL')
    await Promise.all(
      workers.map((child) => (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined)),
    )
    await close()
    await smtp.close()
  }
}

async function copiesIn(dovecot: Dovecot, user: string): Promise<string[]> {
  return otherClient(dovecot, user, PASSWORD, async (client) => {
    await client.mailboxOpen('Sent')
    return (await client.fetchAll('1:*', { envelope: true })).map(({ envelope }) => envelope?.messageId ?? '')
  })
}
