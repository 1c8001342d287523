import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { mail, syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { messageRow } from '../../../../test/kit/messages/message-row.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import type { Db } from '../../../platform/db/index.ts'
import { messageWriter } from '../rows/writer.ts'
import { addPendingBodies, bodyStore, discardBody, storeBody } from './store.ts'

const STORE_BODIES = { storeBodies: true }

describe.skipIf(!dovecotAvailable())('the fetcher of message bodies', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('with sync.storeBodies', (open) => {
    it('stores bodies of old and new messages, and serves them while the mail server is down', async () => {
      const own = await startDovecot()
      onTestFinished(() => own.stop())
      const { box, db, accountId, received, ids, service } = await syncedMailbox(own, open, {
        ...STORE_BODIES,
        before: (box) => own.deliver(box.user, mail('old', { text: 'from before' })),
      })
      await own.deliver(box.user, mail('new', { text: 'just in' }))
      await received('new')
      await eventually(async () => expect(await storedAndPending(db, accountId)).toEqual({ stored: 2, pending: 0 }))
      await own.shutDown()
      const rows = await ids()
      const detail = async (id: string) => service.reader.detail(accountId, rows[id]?.[0] ?? '')
      expect((await detail('old')).body).toEqual({ text: expect.stringContaining('from before'), html: null })
      expect(await detail('new')).toMatchObject({
        body: { text: expect.stringContaining('just in') },
        headers: expect.arrayContaining([{ name: 'Subject', value: 'new' }]),
      })
    })

    it('fetches a body after the event, and retries until the server is back', async () => {
      const own = await startDovecot()
      onTestFinished(() => own.stop())
      const { box, db, accountId, received, service } = await syncedMailbox(own, open, STORE_BODIES)
      service.queue.pause('bodies')
      await box.deliver('a')
      await received('a')
      expect(await storedAndPending(db, accountId)).toEqual({ stored: 0, pending: 1 })
      await own.shutDown()
      service.queue.resume('bodies')
      await eventually(async () => {
        const row = await db.read.selectFrom('messageBodies').select('attempts').executeTakeFirst()
        expect(row?.attempts).toBeGreaterThan(0)
      })
      await own.restart()
      await eventually(async () => expect(await storedAndPending(db, accountId)).toEqual({ stored: 1, pending: 0 }))
    })

    it('keeps the body of a moved message and deletes the body of a deleted one', async () => {
      const { box, db, accountId, same } = await syncedMailbox(server, open, {
        ...STORE_BODIES,
        before: (box) => box.deliver('moved', 'deleted'),
      })
      await eventually(async () => expect(await storedAndPending(db, accountId)).toEqual({ stored: 2, pending: 0 }))
      await box.move('moved', 'Sent')
      await box.expunge('deleted')
      await same()
      await eventually(async () => expect(await storedAndPending(db, accountId)).toEqual({ stored: 1, pending: 0 }))
    })

    it('does not fetch bodies while the account is paused', async () => {
      const { box, db, accountId, received, service } = await syncedMailbox(server, open, STORE_BODIES)
      service.queue.pause('bodies')
      await box.deliver('a')
      await received('a')
      await db.transaction((tx) => service.accounts.change(tx, accountId, { paused: true }))
      service.queue.resume('bodies')
      await eventually(async () => {
        const job = await db.read
          .selectFrom('jobs')
          .select(['lease', 'runAt'])
          .where('key', '=', accountId)
          .executeTakeFirstOrThrow()
        expect(job).toEqual({ lease: null, runAt: expect.closeTo(Date.now() + 10 * 60_000, -5) })
      })
      expect(await storedAndPending(db, accountId)).toEqual({ stored: 0, pending: 1 })
    })

    it('stores no body without the setting', async () => {
      const { box, db, accountId, received } = await syncedMailbox(server, open)
      await box.deliver('a')
      await received('a')
      expect(await storedAndPending(db, accountId)).toEqual({ stored: 0, pending: 0 })
    })
  })
})

describeEachDatabase('a stored body', (open) => {
  const BODY = { text: 'a\0b\ud800', html: null, headers: [{ name: 'Subject', value: 'Grüße' }] }

  async function pending(...ids: string[]) {
    const db = await open()
    await db.transaction(async (tx) => {
      const writer = messageWriter(tx, { dialect: db.dialect, accountId: 'acc_1', nowMs: 1 })
      await writer.insert(ids.map((id, index) => messageRow(id, index + 1)))
      await addPendingBodies(tx, 'acc_1', ids)
    })
    const store = (messageId: string, version: number, body = BODY) =>
      db.transaction((tx) => storeBody(tx, { messageId, version }, body))
    return { db, store, find: bodyStore(db.read).find }
  }

  it('is cleaned for both databases, and not stored when it is too large', async () => {
    const { db, store, find } = await pending('msg_1', 'msg_2')
    await store('msg_1', 1)
    await store('msg_2', 1, { ...BODY, text: 'x'.repeat(4_000_000) })
    await store('msg_deleted', 1)
    expect(await find('msg_1')).toEqual({ ...BODY, text: 'ab\ufffd' })
    expect(await find('msg_2')).toBeUndefined()
    expect(await find('msg_deleted')).toBeUndefined()
    expect(await storedAndPending(db, 'acc_1')).toEqual({ stored: 1, pending: 0 })
  })

  it('is that of the current version: what was fetched before a change is not stored, and the body stays pending', async () => {
    const { db, store, find } = await pending('msg_1')
    await db.transaction((tx) => tx.updateTable('messages').set({ version: 2 }).where('id', '=', 'msg_1').execute())
    await store('msg_1', 1)
    await db.transaction((tx) => discardBody(tx, { messageId: 'msg_1', version: 1 }))
    expect(await storedAndPending(db, 'acc_1')).toEqual({ stored: 0, pending: 1 })
    await store('msg_1', 2, { ...BODY, text: 'new' })
    expect((await find('msg_1'))?.text).toBe('new')
  })
})

async function storedAndPending(db: Db, accountId: string): Promise<{ stored: number; pending: number }> {
  const rows = await db.read.selectFrom('messageBodies').select('body').where('accountId', '=', accountId).execute()
  const pending = rows.filter((row) => row.body === null).length
  return { stored: rows.length - pending, pending }
}
