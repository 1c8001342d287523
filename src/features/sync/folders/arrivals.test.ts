import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { rejectSubject } from '../../../../test/kit/reject-subject.ts'
import { syncService } from '../../../../test/kit/sync.ts'
import { mail, syncedMailbox } from '../../../../test/kit/synced-mailbox.ts'
import { type Dovecot, type DovecotOptions, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { attachmentMail, uglyMails } from '../../../../test/servers/messages.ts'
import type { Db } from '../../../infra/db/index.ts'
import { messageStore } from '../../messages/index.ts'

const SERVERS: Record<string, DovecotOptions> = {
  'a server that tells everything': {},
  'a server without IDLE, CONDSTORE and QRESYNC': { hideCapabilities: ['IDLE', 'CONDSTORE', 'QRESYNC', 'LIST-STATUS'] },
  'a server with prefix and dots': { prefix: 'INBOX.', separator: '.' },
}

for (const [name, options] of Object.entries(SERVERS)) {
  describe.skipIf(!dovecotAvailable())(name, () => {
    let server: Dovecot
    beforeAll(async () => {
      server = await startDovecot(options)
    })
    afterAll(() => server.stop())
    const path = (folder: string) => `${options.prefix ?? ''}${folder}`
    const folders = ['INBOX', path('Sent'), path('Drafts')]
    const fast = { imap: { pollIntervalMs: 200 } }

    describeEachDatabase('keeps INBOX in step', (open) => {
      it('arrivals, flags and removals, each told once', async () => {
        const { db, accountId, box, same, received, events, announced } = await syncedMailbox(server, open, {
          ...fast,
          before: (box) => box.deliver('old'),
        })
        await same(folders)
        await received()
        await box.deliver('a', 'b')
        await received('a', 'b')
        await box.flag('a', '\\Seen')
        await box.flag('old', '\\Flagged')
        await same(folders)
        await box.expunge('b')
        await same(folders)
        await received('a', 'b')
        expect(await announced('message.deleted')).toEqual(['<b@x>'])
        const updates = (await events()).filter((event) => event.type === 'message.updated')
        const told = updates.map((event) => event.data)
        expect(told.sort((a, b) => (String(a.subject) < String(b.subject) ? -1 : 1))).toMatchObject([
          { subject: 'a', unread: false, starred: false },
          { subject: 'old', unread: true, starred: true },
        ])
        const label = await db.read
          .selectFrom('labels')
          .selectAll()
          .where('providerId', '=', 'INBOX')
          .executeTakeFirstOrThrow()
        expect(await messageStore(db.read).count(accountId, label.id)).toEqual({ total: 2, unread: 1 })
      })

      it('what happened while nobody looked, in one look', async () => {
        const { db, box, service, same, received, announced, ids } = await syncedMailbox(server, open, {
          ...fast,
          before: (box) => box.deliver('a', 'b', 'c'),
        })
        await service.stop()
        await box.expunge('a')
        await box.flag('b', '\\Seen')
        await box.deliver('d')
        await box.put(path('Sent'), 's')
        const before = await ids()
        const again = syncService(db, fast)
        onTestFinished(() => again.stop())
        await again.start()
        await same(folders)
        await received('d')
        expect(await announced('message.sent')).toEqual(['<s@x>'])
        expect(await announced('message.deleted')).toEqual(['<a@x>'])
        expect(await ids()).toMatchObject({ b: before.b, c: before.c })
      })
    })
  })
}

describe.skipIf(!dovecotAvailable())('mail of every kind', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('is stored', (open) => {
    it('only the newest of a large folder at first; the older ones are neither missed nor deleted', async () => {
      const { box, received, db, accountId, announced } = await syncedMailbox(server, open, {
        settings: { initialMessages: 10 },
        before: (box) => box.deliver(...Array.from({ length: 30 }, (_, n) => `m${n}`)),
      })
      const count = async () => (await messageStore(db.read).count(accountId, await inboxId(db, accountId))).total
      expect(await count()).toBe(10)
      await box.deliver('new')
      await received('new')
      await box.expunge('m3')
      await box.expunge('m25')
      await eventually(async () => expect(await announced('message.deleted')).toEqual(['<m25@x>']))
      expect(await count()).toBe(10)
    })

    it('one that the database refuses is stored as far as it goes, and the account goes on', async () => {
      const { db, box, same, accountId } = await syncedMailbox(server, open)
      await rejectSubject(db, 'poison')
      await box.deliver('good-1', 'poison', 'good-2')
      await eventually(async () => {
        const rows = await db.read.selectFrom('messages').select('error').where('accountId', '=', accountId).execute()
        expect(rows.filter((row) => row.error !== null)).toHaveLength(1)
        expect(rows).toHaveLength(3)
      })
      await box.deliver('good-3')
      await eventually(async () => {
        const rows = await db.read.selectFrom('messages').select('id').where('accountId', '=', accountId).execute()
        expect(rows).toHaveLength(4)
      })
      await box.expunge('poison')
      await same()
    })

    it('every odd mail of the wild, each announced once', async () => {
      const { user, db, accountId, events } = await syncedMailbox(server, open)
      const odd = Object.entries(uglyMails)
      for (const [, raw] of odd) await server.deliver(user, raw)
      await eventually(async () => {
        const got = (await events()).filter((event) => event.type === 'message.received')
        expect(new Set(got.map((event) => event.objectId)).size).toBe(odd.length)
        expect(got).toHaveLength(odd.length)
      }, 60_000)
      expect((await messageStore(db.read).count(accountId, await inboxId(db, accountId))).total).toBe(odd.length)
    })

    it('bodies come along in events where they are wanted', async () => {
      const { user, events } = await syncedMailbox(server, open, { settings: { includeBodies: true } })
      await server.deliverMany(user, [mail('a', { text: 'the body' }), attachmentMail({ messageId: '<b@x>' })])
      await eventually(async () => {
        const got = (await events()).filter((event) => event.type === 'message.received')
        expect(got.map((event) => event.data.body)).toMatchObject([
          { text: expect.stringContaining('the body'), html: null },
          { text: expect.stringContaining('attachment') },
        ])
      })
    })
  })
})

async function inboxId(db: Db, accountId: string): Promise<string> {
  const label = await db.read
    .selectFrom('labels')
    .select('id')
    .where('accountId', '=', accountId)
    .where('providerId', '=', 'INBOX')
    .executeTakeFirstOrThrow()
  return label.id
}
