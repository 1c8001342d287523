import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Databases, describeEachDatabase, describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { mail, syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { rejectSubject } from '../../../../test/kit/messages/reject-subject.ts'
import { type Dovecot, type DovecotOptions, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { attachmentMail, malformedMessages } from '../../../../test/servers/messages.ts'
import type { Db } from '../../../platform/db/index.ts'
import { messageStore } from '../../messages/index.ts'

const PLAIN: DovecotOptions = {}
const SERVERS: Record<string, DovecotOptions> = {
  'server with all extensions': PLAIN,
  'server without IDLE, CONDSTORE and QRESYNC': { hideCapabilities: ['IDLE', 'CONDSTORE', 'QRESYNC', 'LIST-STATUS'] },
  'server with a namespace prefix and dots as separators': { prefix: 'INBOX.', separator: '.' },
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

    const suite = (open: Databases) => {
      it('emits one event per arrival, flag change and removal', async () => {
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
        const changes = updates.map((event) => event.data)
        expect(changes.sort((a, b) => (String(a.subject) < String(b.subject) ? -1 : 1))).toMatchObject([
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

      it('catches up in one sync on everything that changed since the last one', async () => {
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
    }
    // What another server does differently does not depend on the engine.
    if (options === PLAIN) describeEachDatabase('keeps INBOX in sync', suite)
    else describeOneDatabase('keeps INBOX in sync', 'postgres', suite)
  })
}

describe.skipIf(!dovecotAvailable())('messages of every kind', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('are stored', (open) => {
    it('stores only the newest messages of a large folder at first, and does not treat the older ones as deleted', async () => {
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

    it('stores what it can of a message that the database rejects, and continues the sync', async () => {
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

    it('stores malformed messages and announces each one once', async () => {
      const { user, db, accountId, events } = await syncedMailbox(server, open)
      const odd = Object.entries(malformedMessages)
      for (const [, raw] of odd) await server.deliver(user, raw)
      await eventually(async () => {
        const got = (await events()).filter((event) => event.type === 'message.received')
        expect(new Set(got.map((event) => event.objectId)).size).toBe(odd.length)
        expect(got).toHaveLength(odd.length)
      })
      expect((await messageStore(db.read).count(accountId, await inboxId(db, accountId))).total).toBe(odd.length)
    })

    it('includes bodies in events when configured', async () => {
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
