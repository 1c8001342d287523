import { expect, it } from 'vitest'
import { MAX_DATA_BYTES } from '../../events/index.ts'
import { newLabelRow } from '../labels/index.ts'
import { messageEvent } from './announce.ts'
import { incomingRow } from './index.ts'
import { newMessageRow } from './rows/row.ts'

const label = newLabelRow(
  { path: 'INBOX', name: 'INBOX', delimiter: '/', role: 'inbox', selectable: true, mailboxId: null },
  { id: 'lbl_1', accountId: 'acc_1', provider: 'imap', nowMs: 1 },
)

function row(to: number, name = 'n'.repeat(50)) {
  const mail = {
    location: { uidValidity: '7', uid: 1 },
    providerMessageId: 'p',
    isNew: true,
    emailId: null,
    threadId: null,
    messageId: '<m@x>',
    inReplyTo: null,
    references: [],
    subject: 's',
    from: null,
    cc: [],
    bcc: [],
    replyTo: [],
    date: null,
    receivedAt: 1,
    sizeBytes: 1,
    unread: true,
    starred: false,
    snippet: '',
    text: '',
    attachments: [],
    headerHash: 'h',
    error: null,
    to: Array.from({ length: to }, (_, n) => ({ name, email: `${n}@example.test` })),
  }
  return newMessageRow(incomingRow(mail, { accountId: 'acc_1', labelId: 'lbl_1', nowMs: 1 }), {
    accountId: 'acc_1',
    labelId: 'lbl_1',
    id: 'msg_1',
    nowMs: 1,
  })
}

it('drops the body, then shortens lists, when event data is too large, and sets `truncated`', () => {
  const body = { text: 'x'.repeat(MAX_DATA_BYTES), html: null }
  const small = messageEvent('message.received', row(1), label, 'imap', { text: 'hello', html: null })
  expect(small.data).toMatchObject({ body: { text: 'hello' } })
  expect(small.data.truncated).toBeUndefined()
  const withoutBody = messageEvent('message.received', row(1), label, 'imap', body).data
  expect(withoutBody).toMatchObject({ truncated: true, to: [{ email: '0@example.test' }] })
  expect(withoutBody.body).toBeUndefined()
  const withLongList = messageEvent('message.received', row(9000), label, 'imap', body).data
  expect(withLongList).toMatchObject({ truncated: true, subject: 's' })
  expect(Buffer.byteLength(JSON.stringify(withLongList))).toBeLessThan(MAX_DATA_BYTES)
})

it('measures event data in bytes of UTF-8', () => {
  const fitting = messageEvent('message.received', row(1000, '会'.repeat(50)), label, 'imap').data
  expect(fitting.truncated).toBeUndefined()
  expect(fitting.to).toHaveLength(1000)
  const tooLong = messageEvent('message.received', row(1000, '会'.repeat(80)), label, 'imap').data
  expect(tooLong.truncated).toBe(true)
  expect(Buffer.byteLength(JSON.stringify(tooLong))).toBeLessThan(MAX_DATA_BYTES)
})
