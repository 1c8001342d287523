import { expect, it } from 'vitest'
import { databases } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { syncedDouble } from '../../../test/kit/mailbox/synced-double.ts'
import { reservedIds } from '../messages/index.ts'

const open = databases('sqlite')

async function sending(kind: 'whole' | 'folders') {
  const synced = await syncedDouble(kind, open)
  const { db, accountId, box } = synced
  const reserve = (messageId: string, ...keys: Parameters<typeof reservedIds.reserve>[2]) =>
    db.transaction((tx) => reservedIds.reserve(tx, { accountId, messageId, as: 'sent' }, keys, 1))
  const put = (id: string, folders: string[], parsed = {}) =>
    box.deliver(id, { folders, parsed: { messageId: '<1@x>', ...parsed } })
  const emits = async (...expected: string[]) => {
    await synced.sync()
    await eventually(async () => expect(await synced.emitted()).toEqual(expected))
  }
  return { ...synced, reserve, put, emits }
}

it.each(['whole', 'folders'] as const)('gives the sent copy the reserved id, once (%s)', async (kind) => {
  const { reserve, put, emits, ids } = await sending(kind)
  await reserve('msg_1', { rfcMessageId: '<1@x>' }, { sentToken: 'token' })
  put('a', ['SENT'])
  await emits('message.sent a 1')
  put('b', ['SENT'])
  put('c', ['SENT'], { messageId: '<2@x>', sentToken: 'token' })
  await emits('message.sent a 1', 'message.sent b 1', 'message.sent c 1')
  const { a, ...others } = await ids()
  expect(a).toBe('msg_1')
  expect(Object.values(others)).not.toContain('msg_1')
})

it('takes the copy of a message to oneself for the sent one where both are one message', async () => {
  const { reserve, put, emits, ids } = await sending('whole')
  await reserve('msg_1', { sentToken: 'token' })
  put('a', ['INBOX', 'SENT'], { sentToken: 'token' })
  await emits('message.sent a 1')
  expect(await ids()).toEqual({ a: 'msg_1' })
})

it('ignores the received copy of a message to oneself', async () => {
  const { reserve, put, emits, ids } = await sending('folders')
  await reserve('msg_1', { rfcMessageId: '<1@x>' })
  put('a', ['INBOX'])
  await emits('message.received a 1')
  put('b', ['SENT'])
  await emits('message.received a 1', 'message.sent b 1')
  expect((await ids()).b).toBe('msg_1')
})

it('does not store the draft that sending creates at the provider', async () => {
  const { reserve, put, emits, box, ids } = await sending('folders')
  await reserve('msg_1', { providerMessageId: 'a' })
  put('a', ['DRAFT'])
  await emits()
  box.set('a', { folders: ['SENT'] })
  await emits('message.sent a 1')
  expect(await ids()).toEqual({ a: 'msg_1' })
})
