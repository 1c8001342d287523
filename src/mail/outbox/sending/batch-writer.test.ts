import { expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { LeaseLost } from '../../../platform/db/index.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import { outboxStore } from '../store.ts'
import type { OutboxRow } from '../tables.ts'
import { batchWriter } from './batch-writer.ts'

const CONTENT = Buffer.from('Subject: Hello\r\n\r\nHello Bob\r\n')
const LEASE = { token: 'run', forMs: 60_000 }

describeEachDatabase('storing what runs do for their messages', (open) => {
  async function fixture(count: number) {
    const db = await open()
    const { accounts, link } = testAccounts(db)
    const { id: accountId } = await link(imapUser('ada'))
    const ids = Array.from({ length: count }, (_, index) => `out_${index}`)
    await db.transaction(async (tx) => {
      for (const id of ids) await outboxStore(tx, db.dialect).insert(waiting(id, accountId), CONTENT)
    })
    const writer = batchWriter({ db, clock: systemClock, accounts })
    const claim = (lease = LEASE) => writer.claim({ accountId, nowMs: Date.now(), limit: 10 }, lease)
    const row = (id: string) => outboxStore(db.read, db.dialect).get(id)
    return { db, writer, claim, row, ids }
  }

  it('claims messages with their bytes, each for one run', async () => {
    const { claim, ids } = await fixture(3)
    const [first, second] = await Promise.all([claim(), claim({ ...LEASE, token: 'other' })])
    expect(first.map(({ row }) => row.id)).toEqual(ids)
    expect(first).toMatchObject(ids.map(() => ({ content: CONTENT, wasInterrupted: false, row: { lease: 'run' } })))
    expect(second).toEqual([])
  })

  it('commits the messages that their runs hold, and no others of the same batch', async () => {
    const { db, writer, claim, row } = await fixture(3)
    const [held, lost, committed] = (await claim()).map((claimed) => claimed.row)
    if (held === undefined || lost === undefined || committed === undefined) throw new Error('nothing was claimed')
    await writer.commit({ row: committed, providerMessageId: null })
    await db.transaction((tx) => outboxStore(tx, db.dialect).update(lost.id, { lease: 'other' }))
    const results = await Promise.allSettled(
      [held, lost, committed].map((row) => writer.commit({ row, providerMessageId: null })),
    )
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    for (const result of results.slice(1)) expect(result).toMatchObject({ reason: expect.any(LeaseLost) })
    expect(await row(held.id)).toMatchObject({ status: 'sending', attempts: 1, committedAt: expect.any(Number) })
    expect(await row(lost.id)).toMatchObject({ status: 'queued', attempts: 0, committedAt: null })
    expect(await row(committed.id)).toMatchObject({ attempts: 1 })
  })

  it('commits nothing for a run whose lease has ended', async () => {
    const { writer, claim, row, ids } = await fixture(1)
    const [claimed] = await claim({ ...LEASE, forMs: 0 })
    if (claimed === undefined) throw new Error('nothing was claimed')
    await expect(writer.commit({ row: claimed.row, providerMessageId: null })).rejects.toBeInstanceOf(LeaseLost)
    expect(await row(ids[0] ?? '')).toMatchObject({ committedAt: null })
  })

  it('records sent messages, with and without a copy to save, beside one that was deleted', async () => {
    const { db, writer, claim, row } = await fixture(3)
    const [copied, complete, deleted] = (await claim()).map((claimed) => claimed.row)
    if (copied === undefined || complete === undefined || deleted === undefined) throw new Error('nothing was claimed')
    await db.transaction(async (tx) => {
      await tx.deleteFrom('outboxParts').where('outboxId', '=', deleted.id).execute()
      await tx.deleteFrom('outbox').where('id', '=', deleted.id).execute()
    })
    const sent = { refused: '[]', providerMessageId: null } as const
    const results = await Promise.allSettled([
      writer.recordSent({ ...sent, row: copied, remaining: 'copy' }),
      writer.recordSent({ ...sent, row: complete, remaining: null, providerMessageId: 'remote' }),
      writer.recordSent({ ...sent, row: deleted, remaining: 'copy' }),
    ])
    expect(results).toMatchObject([
      { value: { id: copied.id, status: 'sent', lease: 'run' } },
      { value: { id: complete.id, status: 'sent', lease: null } },
      { reason: { code: 'not_found' } },
    ])
    const parts = await db.read.selectFrom('outboxParts').select('outboxId').execute()
    expect(parts).toEqual([{ outboxId: copied.id }])
    expect(await row(copied.id)).toMatchObject({ remaining: 'copy', dueAt: expect.any(Number), lease: 'run' })
    expect(await row(complete.id)).toMatchObject({
      remaining: null,
      dueAt: null,
      lease: null,
      leasedUntil: null,
      providerMessageId: 'remote',
    })
  })
})

function waiting(id: string, accountId: string): OutboxRow {
  return {
    id,
    accountId,
    status: 'queued',
    messageId: `msg_${id}`,
    rfcMessageId: `<${id}@example.com>`,
    sentToken: id,
    draftId: null,
    draftHash: null,
    subject: 'Hello',
    envelope: '{}',
    repliesTo: null,
    repliedId: null,
    sizeBytes: CONTENT.length,
    refused: '[]',
    error: null,
    copyError: null,
    attempts: 0,
    remaining: null,
    checks: 0,
    sendAt: null,
    dueAt: 1,
    giveUpAt: 2,
    lease: null,
    leasedUntil: null,
    committedAt: null,
    providerMessageId: null,
    sentAt: null,
    createdAt: 1,
    updatedAt: 1,
  }
}
