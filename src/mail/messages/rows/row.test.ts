import { expect, it } from 'vitest'
import type { RemoteMessage } from '../../../providers/contract/index.ts'
import { incomingRow } from './row.ts'

it('stores subjects of up to 5,000 characters and cuts longer ones between two characters', () => {
  const storedSubject = (subject: string) =>
    incomingRow({ ...MESSAGE, subject }, { accountId: 'acc_1', labelId: 'lbl_1', nowMs: 1 }).subject
  expect(storedSubject('x'.repeat(5000))).toBe('x'.repeat(5000))
  expect(storedSubject(`${'😀'.repeat(4999)}ab`)).toBe(`${'😀'.repeat(4999)}a`)
  expect(storedSubject('😀'.repeat(5001))).toBe('😀'.repeat(5000))
})

it('replaces a time that RFC 3339 cannot write by the current time', () => {
  const storedReceivedAt = (receivedAt: number) =>
    incomingRow({ ...MESSAGE, receivedAt }, { accountId: 'acc_1', labelId: 'lbl_1', nowMs: 7 }).receivedAt
  expect([-1, 8e15, Number.NaN, 253_402_300_799_999].map(storedReceivedAt)).toEqual([7, 7, 7, 253_402_300_799_999])
})

it('keeps in the fields that a message went to many', () => {
  const bulk = (isBulk?: boolean) =>
    JSON.parse(
      incomingRow(isBulk === undefined ? MESSAGE : { ...MESSAGE, isBulk }, {
        accountId: 'acc_1',
        labelId: 'lbl_1',
        nowMs: 1,
      }).fields,
    ).bulk
  expect([bulk(true), bulk(false), bulk()]).toEqual([true, undefined, undefined])
})

const MESSAGE: RemoteMessage = {
  providerMessageId: 'p',
  isNew: true,
  emailId: null,
  threadId: null,
  messageId: null,
  inReplyTo: null,
  references: [],
  subject: '',
  from: null,
  to: [],
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
}
