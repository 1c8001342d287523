import { expect, it } from 'vitest'
import { testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { catalogue } from '../../app/feature-list.ts'
import { recorder } from '../../events/index.ts'
import { type Db, insertRows } from '../../platform/db/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { tracking as createTracking, replyRecorder } from './index.ts'

const ids = idGenerator(systemClock)
const EXAMPLE = catalogue.get('message.received').example.data as Record<string, unknown>

describeEachDatabase('replies to tracked messages', (open) => {
  it('are counted and announced beside message.received', async () => {
    const { send, receive, read, replied } = await stage(open)
    const offer = await send('<offer@acme>')
    await receive({ inReplyTo: '<offer@acme>', subject: 'Re: Offer' })
    await receive({ references: ['<old@acme>', '<offer@acme>', '<answer@client>'], subject: 'Automatic reply: Offer' })
    // Neither a stranger's message nor a delivery report is a reply.
    await receive({ inReplyTo: '<other@acme>', references: ['<unknown@acme>'] })
    await receive({ inReplyTo: '<offer@acme>', from: { name: '', email: 'MAILER-DAEMON@mx.example' } })
    await receive({})
    const { row, events } = await read(offer.row.id)
    expect([row.replyCount, row.openCount]).toEqual([2, 0])
    expect(events.map(({ type, automatedReason }) => [type, automatedReason])).toEqual([
      ['replied', 'automatic_reply'],
      ['replied', null],
    ])
    const announced = await replied()
    expect(announced.map(({ version, data }) => [version, data.messageId, data.automated])).toEqual([
      [1, offer.row.messageId, false],
      [2, offer.row.messageId, true],
    ])
    expect(announced[0]?.data).toMatchObject({ trackingId: offer.row.id, subject: 'Re: Offer', from: EXAMPLE.from })
    expect(announced[0]?.data.replyMessageId).toMatch(/^msg_/)
  })

  it('are found by the Message-ID of the sent copy, when the provider replaced it', async () => {
    const { send, store, receive, read } = await stage(open)
    const { row } = await send('<ours@acme>')
    await store('message.sent', { id: row.messageId, messageId: '<CAF=theirs@mail.gmail.com>' })
    await receive({ inReplyTo: '<CAF=theirs@mail.gmail.com>' })
    await receive({ inReplyTo: '<ours@acme>' })
    expect((await read(row.id)).row.replyCount).toBe(1)
  })

  it('belong to the account that sent the message', async () => {
    const [one, two] = [await stage(open), await stage(open)]
    const { row } = await one.send('<offer@acme>')
    await two.receive({ inReplyTo: '<offer@acme>' })
    expect((await one.read(row.id)).row.replyCount).toBe(0)
  })

  it('are counted, announced and listed after any number of opens, clicks and replies', async () => {
    const { db, tracking, send, receive, read, replied } = await stage(open)
    const { row, result } = await send('<offer@acme>')
    const visitor = { userAgent: 'x', ipAddress: null, automatedReason: null }
    await receive({ inReplyTo: '<offer@acme>' })
    await fill(db, row.id, 'link_clicked', 1000)
    await fill(db, row.id, 'opened', 999)
    await receive({ inReplyTo: '<offer@acme>' })
    // Clicks do not use up the opens either.
    await tracking.opened(result.token, visitor)
    const { row: after, events } = await read(row.id)
    expect(after).toMatchObject({ openCount: 1000, clickCount: 1000, replyCount: 2, version: 3 })
    expect(events).toHaveLength(1000)
    expect(events.filter(({ type }) => type === 'replied')).toHaveLength(2)
    expect(events.map(({ id }) => id)).toEqual(
      events
        .map(({ id }) => id)
        .sort()
        .reverse(),
    )
    await fill(db, row.id, 'replied', 998)
    await receive({ inReplyTo: '<offer@acme>' })
    expect((await read(row.id)).row.replyCount).toBe(1001)
    expect(await replied()).toHaveLength(3)
  })

  it('are counted together with opens that happen at the same time', async () => {
    const { tracking, send, receive, read } = await stage(open)
    const { row, result } = await send('<offer@acme>')
    const visitor = { userAgent: 'x', ipAddress: null, automatedReason: null }
    await Promise.all([
      ...Array.from({ length: 5 }, () => receive({ inReplyTo: '<offer@acme>' })),
      tracking.opened(result.token, visitor),
    ])
    expect((await read(row.id)).row).toMatchObject({ replyCount: 5, openCount: 1, version: 6 })
  })
})

/** Adds events of one type, and counts them. */
async function fill(db: Db, trackingId: string, type: 'opened' | 'link_clicked' | 'replied', count: number) {
  const { accountId, ...row } = await db.read
    .selectFrom('trackings')
    .selectAll()
    .where('id', '=', trackingId)
    .executeTakeFirstOrThrow()
  const events = Array.from({ length: count }, () => ({
    id: ids('tev'),
    trackingId,
    accountId,
    type,
    occurredAt: 1,
    automatedReason: null,
    url: null,
    replyMessageId: null,
    userAgent: null,
    ipAddress: null,
  }))
  const added = (of: typeof type) => (of === type ? count : 0)
  await db.transaction(async (tx) => {
    await insertRows(tx, 'trackingEvents', events)
    await tx
      .updateTable('trackings')
      .set({
        openCount: row.openCount + added('opened'),
        clickCount: row.clickCount + added('link_clicked'),
        replyCount: row.replyCount + added('replied'),
      })
      .where('id', '=', trackingId)
      .execute()
  })
}

async function stage(open: Parameters<Parameters<typeof describeEachDatabase>[1]>[0]) {
  const db = await open()
  const { accounts, link, bus } = testAccounts(db)
  const events = recorder({ catalogue, clock: systemClock, ids, bus })
  const { id: accountId, provider } = await link({ customUserId: ids('ses') })
  const tracking = createTracking({ db, clock: systemClock, ids, events, accounts, baseUrl: 'http://track.example' })
  const ofSync = replyRecorder({ db, events, ids })
  const store = (type: string, data: object) =>
    db.transaction((tx) =>
      ofSync.record(tx, [{ type, accountId, provider, objectId: 'msg_1', version: 1, data: { ...EXAMPLE, ...data } }]),
    )
  return {
    db,
    tracking,
    store,
    receive: (data: object) => store('message.received', { inReplyTo: null, references: [], id: ids('msg'), ...data }),
    read: (id: string) => tracking.get(id),
    async send(rfcMessageId: string) {
      const messageId = ids('msg')
      const message = { accountId, messageId, rfcMessageId, subject: 'Offer', html: null, insert: false }
      const prepared = await tracking.prepare(message)
      await db.transaction((tx) => tracking.store(tx, prepared))
      return prepared
    },
    async replied() {
      const rows = await db.read
        .selectFrom('events')
        .selectAll()
        .where('type', '=', 'message.replied')
        .orderBy('sequence')
        .execute()
      return rows.map(({ version, data }) => ({ version, data: JSON.parse(data) }))
    },
  }
}
