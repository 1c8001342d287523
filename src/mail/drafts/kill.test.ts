import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { imapLink } from '../../../test/kit/accounts/accounts.ts'
import { describeOneDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { mailEvents } from '../../../test/kit/mailbox/mailbox-state.ts'
import { syncService } from '../../../test/kit/mailbox/sync.ts'
import { random } from '../../../test/kit/random/random.ts'
import { startWorker } from '../../../test/kit/workers/start.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { otherClient } from '../../../test/servers/imap-mailbox.ts'
import { startSmtpSink } from '../../../test/servers/smtp.ts'
import { sleep } from '../../platform/concurrency/abort.ts'

const KILLS = 4
const PER_KILL = 3
/** Longer than the lease of an Idempotency-Key and the lock of a draft. */
const AHEAD_MS = 120_000
const USER = 'drafter'

describe.skipIf(!dovecotAvailable())('a process killed while it saves, changes and sends drafts', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeOneDatabase('and started again', 'sqlite', (open) => {
    it('sends every draft once, and deletes it then', async () => {
      const chance = random()
      const smtp = await startSmtpSink()
      onTestFinished(() => smtp.close())
      // Time in which a kill leaves the outcome unknown.
      smtp.behave({ message: () => sleep(chance() * 20).then(() => undefined) })
      await server.addUser(USER, 'one')
      const place = await open.place()
      const db = await open(place)
      const service = syncService(db, {
        timing: { pollMs: 400 },
        owning: { roundMs: 100, deadAfterMs: 2000, settleMs: 0 },
      })
      onTestFinished(() => service.stop())
      const { host, imapsPort: port } = server
      const imap = { host, port, username: USER, security: 'tls', allowSelfSigned: true, mailbox: 'INBOX' } as const
      const smtpSettings = { host: smtp.host, port: smtp.port, security: 'starttls' } as const
      const { id: accountId } = await db.transaction((tx) =>
        service.accounts.link(tx, {
          ...imapLink({ email: `${USER}@acme.example`, providerUser: USER, secrets: { password: 'one' } }),
          settings: { imap, smtp: smtpSettings },
        }),
      )
      // The folders must be known before the first draft.
      await service.start()
      await service.synced(accountId)
      await service.stop()

      const subjects: string[] = []
      const run = (round: number) => {
        const { dataDir, databaseUrl = '' } = place
        const args = [dataDir, databaseUrl, accountId, subjects.join(), String((round + 1) * AHEAD_MS)]
        return startWorker('draft-sending-worker', args)
      }
      for (let round = 0; round < KILLS; round += 1) {
        for (let n = 0; n < PER_KILL; n += 1) subjects.push(`${round}-${n}`)
        const before = smtp.messages.length
        const child = run(round)
        await once(child.stdout, 'data')
        // Half of the processes die early, the others soon after they have sent a message.
        if (round % 2 === 1) await eventually(() => smtp.messages.length > before)
        await sleep(chance() * (round % 2 === 1 ? 150 : 400))
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      const rows = () =>
        db.read.selectFrom('outbox').select(['subject', 'status', 'rfcMessageId', 'dueAt', 'messageId']).execute()
      const last = run(KILLS)
      const printed: string[] = []
      last.stdout.on('data', (data) => printed.push(String(data)))
      await eventually(async () => {
        expect([last.exitCode, printed.join('')]).toEqual([null, 'started\ndone\n'])
        for (const row of await rows()) expect(row).toMatchObject({ dueAt: null })
      })
      last.kill('SIGKILL')
      await once(last, 'exit')

      const all = await rows()
      expect(all.map(({ subject }) => subject).sort()).toEqual([...subjects].sort())
      const of = (status: string) => all.filter((row) => row.status === status)
      const [sent, uncertain] = [of('sent'), of('uncertain')]
      expect(sent.length + uncertain.length).toBe(all.length)
      expect(uncertain.length).toBeLessThanOrEqual(KILLS)
      const received = smtp.messages.map(({ raw }) => /^Subject: (\S+)/im.exec(raw.toString())?.[1] ?? '')
      expect(received.filter((subject, index) => received.indexOf(subject) !== index)).toEqual([])
      expect(sent.filter(({ subject }) => !received.includes(subject))).toEqual([])
      for (const { raw } of smtp.messages) expect(raw.toString()).toContain('two')
      expect(await idsIn('Sent')).toEqual(sent.map((row) => row.rfcMessageId).sort())
      // A draft whose message may not have been sent is still there, once.
      expect(await idsIn('Drafts')).toEqual(uncertain.map((row) => row.rfcMessageId).sort())

      const later = syncService(db, {
        timing: { pollMs: 400 },
        owning: { roundMs: 100, deadAfterMs: 2000, settleMs: 0 },
      })
      onTestFinished(() => later.stop())
      await later.start()
      await eventually(async () => {
        await later.synced(accountId)
        const events = await mailEvents(db, accountId)
        const count = (type: string) => events.filter((event) => event.type === type).length
        const counts = ['draft.created', 'draft.deleted', 'message.sent'].map(count)
        expect(counts).toEqual([all.length, sent.length, sent.length])
      })
    })
  })

  async function idsIn(folder: string): Promise<string[]> {
    return otherClient(server, USER, 'one', async (client) => {
      const { exists } = await client.mailboxOpen(folder)
      const found = exists === 0 ? [] : await client.fetchAll('1:*', { envelope: true })
      return found.map(({ envelope }) => envelope?.messageId ?? '').sort()
    })
  }
})
