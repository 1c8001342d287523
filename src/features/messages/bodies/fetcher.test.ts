import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { mail, syncedMailbox } from '../../../../test/kit/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import type { Db } from '../../../infra/db/index.ts'
import { bodyStore, keepBody, wantBodies } from './store.ts'

const KEEPING = { storeBodies: true }

describe.skipIf(!dovecotAvailable())('bodies kept in the store', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('with the messages', (open) => {
    it('are served when the mail server is gone: those of old mail and of new', async () => {
      const own = await startDovecot()
      onTestFinished(() => own.stop())
      const { box, db, accountId, received, ids, service } = await syncedMailbox(own, open, {
        ...KEEPING,
        before: (box) => own.deliver(box.user, mail('old', { text: 'from before' })),
      })
      await own.deliver(box.user, mail('new', { text: 'just in' }))
      await received('new')
      await eventually(async () => expect(await wishes(db, accountId)).toEqual({ kept: 2, open: 0 }))
      await own.shutDown()
      const rows = await ids()
      const detail = async (id: string) => service.reader.detail(accountId, rows[id]?.[0] ?? '')
      expect((await detail('old')).body).toEqual({ text: expect.stringContaining('from before'), html: null })
      expect(await detail('new')).toMatchObject({
        body: { text: expect.stringContaining('just in') },
        headers: expect.arrayContaining([{ name: 'Subject', value: 'new' }]),
      })
    })

    it('are read after the event, and again until they could be', async () => {
      const own = await startDovecot()
      onTestFinished(() => own.stop())
      const { box, db, accountId, received, service } = await syncedMailbox(own, open, KEEPING)
      service.queue.pause('bodies')
      await box.deliver('a')
      await received('a')
      expect(await wishes(db, accountId)).toEqual({ kept: 0, open: 1 })
      await own.shutDown()
      service.queue.resume('bodies')
      await eventually(async () => {
        const row = await db.read.selectFrom('messageBodies').select('attempts').executeTakeFirst()
        expect(row?.attempts).toBeGreaterThan(0)
      })
      await own.restart()
      await eventually(async () => expect(await wishes(db, accountId)).toEqual({ kept: 1, open: 0 }))
    })

    it('stay with a message that moves, and go with one that is deleted', async () => {
      const { box, db, accountId, same } = await syncedMailbox(server, open, {
        ...KEEPING,
        before: (box) => box.deliver('moved', 'deleted'),
      })
      await eventually(async () => expect(await wishes(db, accountId)).toEqual({ kept: 2, open: 0 }))
      await box.move('moved', 'Sent')
      await box.expunge('deleted')
      await same()
      await eventually(async () => expect(await wishes(db, accountId)).toEqual({ kept: 1, open: 0 }))
    })

    it('are not asked for while the account is paused', async () => {
      const { box, db, accountId, received, service } = await syncedMailbox(server, open, KEEPING)
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
      expect(await wishes(db, accountId)).toEqual({ kept: 0, open: 1 })
    })

    it('are none unless they are wanted', async () => {
      const { box, db, accountId, received } = await syncedMailbox(server, open)
      await box.deliver('a')
      await received('a')
      expect(await wishes(db, accountId)).toEqual({ kept: 0, open: 0 })
    })
  })
})

describeEachDatabase('a kept body', (open) => {
  it('is what both engines can hold, and not too long', async () => {
    const db = await open()
    await db.transaction((tx) => wantBodies(tx, 'acc_1', ['msg_1', 'msg_2']))
    const body = { text: 'a\0b\ud800', html: null, headers: [{ name: 'Subject', value: 'Grüße' }] }
    await db.transaction((tx) => keepBody(tx, 'msg_1', body))
    await db.transaction((tx) => keepBody(tx, 'msg_2', { ...body, html: 'x'.repeat(4_000_000) }))
    await db.transaction((tx) => keepBody(tx, 'msg_deleted', body))
    const store = bodyStore(db.read)
    expect(await store.find('msg_1')).toEqual({ ...body, text: 'ab\ufffd' })
    expect(await store.find('msg_2')).toBeUndefined()
    expect(await store.find('msg_deleted')).toBeUndefined()
    expect(await wishes(db, 'acc_1')).toEqual({ kept: 1, open: 0 })
  })
})

async function wishes(db: Db, accountId: string): Promise<{ kept: number; open: number }> {
  const rows = await db.read.selectFrom('messageBodies').select('body').where('accountId', '=', accountId).execute()
  const open = rows.filter((row) => row.body === null).length
  return { kept: rows.length - open, open }
}
