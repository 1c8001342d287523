import { rm, truncate } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { connected, mail, syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { attachmentMail } from '../../../../test/servers/messages.ts'
import type { Db } from '../../../platform/db/index.ts'
import { messageStore } from '../../messages/index.ts'
import { READER_VERSION } from '../../messages/rows/reader-version.ts'
import { messageWriter } from '../../messages/rows/writer.ts'

const ERROR = 'the server returned no readable structure of this message'
const FILE = { filename: 'a.pdf', contentType: 'application/pdf', content: Buffer.from('pdf') }
const raw = (id: string) => attachmentMail({ subject: id, messageId: `<${id}@x>`, attachments: [FILE] })

describe.skipIf(!dovecotAvailable())('messages that could not be read', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeOneDatabase('of one mailbox', 'sqlite', (open) => {
    /** A mailbox whose messages are stored as if an earlier version could not read them; the sync has stopped. */
    async function unread(...ids: string[]) {
      const box = await syncedMailbox(server, open)
      for (const id of ids) await server.deliver(box.user, raw(id))
      await box.received(...ids)
      await box.service.stop()
      await damage(box.db, box.accountId)
      return box
    }

    async function restarted(db: Db) {
      const service = syncService(db)
      onTestFinished(() => service.stop())
      await service.start()
      return service
    }

    it('are read again by a later version, with one `message.updated` each', async () => {
      const { db, accountId, events, ids } = await unread('a', 'b')
      const before = await ids()
      const announcedBefore = (await events()).length
      await restarted(db)
      await eventually(async () => {
        for (const row of await readRows(db, accountId)) expect(row).toMatchObject({ error: null, hasAttachments: 1 })
      })
      const later = (await events()).slice(announcedBefore)
      const updated = later.filter(({ type }) => type === 'message.updated')
      expect(updated.map(({ objectId, data }) => [objectId, data.hasAttachments, data.error]).sort()).toEqual([
        [before.a?.[0], true, null],
        [before.b?.[0], true, null],
      ])
      expect(updated[0]?.data.attachments).toMatchObject([{ filename: 'a.pdf' }])
      expect(later.filter(({ type }) => type === 'message.received')).toEqual([])
    })

    it('join the thread that they name', async () => {
      const box = await syncedMailbox(server, open)
      await box.box.deliver('root')
      await server.deliver(box.user, mail('reply', { headers: ['In-Reply-To: <root@x>'] }))
      await box.received('root', 'reply')
      await box.service.stop()
      const [root] = await readRows(box.db, box.accountId)
      await damage(box.db, box.accountId, { subject: 'reply', isEmpty: true })
      await restarted(box.db)
      await eventually(async () => {
        const [, repaired] = await readRows(box.db, box.accountId)
        expect(repaired).toMatchObject({ error: null, threadId: root?.threadId })
      })
    })

    it('are read when the message is requested, also in a folder that is not synced', async () => {
      const box = await syncedMailbox(server, open)
      await server.deliver(box.user, raw('a'), { folder: 'Elsewhere' })
      const listed = await box.service.reader.list(box.accountId, { mailbox: 'Elsewhere' })
      await damage(box.db, box.accountId)
      const id = readId(listed)
      const detail = await box.service.reader.detail(box.accountId, id)
      expect(detail).toMatchObject({ error: null, hasAttachments: true, attachments: [{ filename: 'a.pdf' }] })
      expect(await box.service.reader.message(box.accountId, id)).toMatchObject({ error: null, hasAttachments: true })
    })

    it('are tried once by each version, although they make the server end the connection', async () => {
      const own = await startDovecot()
      onTestFinished(() => own.stop())
      const box = await syncedMailbox(own, open)
      await own.deliver(box.user, raw('a'))
      await own.deliver(box.user, raw('b'))
      await box.received('a', 'b')
      await box.service.stop()
      const home = (await own.doveadm('user', '-f', 'home', box.user)).trim()
      const folder = `${home}/mail/mailboxes/INBOX`
      await truncate(`${folder}/dbox-Mails/u.1`, 60)
      await rm(`${folder}/dbox-Mails/dovecot.index.cache`)
      await damage(box.db, box.accountId)
      const service = await restarted(box.db)
      await eventually(async () => expect((await readRows(box.db, box.accountId))[0]?.reader).toBe(READER_VERSION))
      await own.deliver(box.user, raw('c'))
      await box.received('a', 'b', 'c')
      await connected(service, box.accountId)
      expect((await readRows(box.db, box.accountId))[0]).toMatchObject({ error: ERROR, reader: READER_VERSION })
    })
  })
})

/** As an earlier version stored a message without its structure, or without anything. */
async function damage(db: Db, accountId: string, { subject = '', isEmpty = false } = {}): Promise<void> {
  await db.transaction(async (tx) => {
    const writer = messageWriter(tx, { dialect: db.dialect, accountId, nowMs: 1 })
    const rows = await readRows(db, accountId)
    const labels = await messageStore(tx).labelIds(rows.map(({ id }) => id))
    for (const row of rows) {
      if (subject !== '' && subject !== row.subject) continue
      const left = isEmpty ? { messageId: null, inReplyTo: null, references: [] } : {}
      const fields = JSON.stringify({ ...JSON.parse(row.fields), attachments: [], ...left })
      const damaged = { ...row, error: ERROR, hasAttachments: 0, fields, ...(isEmpty && { threadId: null }) }
      await writer.update([{ row: damaged, labelIds: labels.get(row.id) ?? [], rewritten: true }])
      await tx.updateTable('messages').set({ reader: null }).where('id', '=', row.id).execute()
    }
  })
}

function readRows(db: Db, accountId: string) {
  return db.read.selectFrom('messages').selectAll().where('accountId', '=', accountId).orderBy('uid').execute()
}

function readId({ messages }: { messages: Buffer }): string {
  const found = /msg_[a-z0-9]+/.exec(messages.toString())
  if (found === null) throw new Error('Nothing was listed.')
  return found[0]
}
