import { incomingRow, newMessageRow } from '../../../src/mail/messages/rows/row.ts'
import type { MessageRow } from '../../../src/mail/messages/store.ts'

/** A message of account `acc_1` in folder `lbl_1`, version 1. */
export function messageRow(id: string, uid = 1): MessageRow {
  const message = {
    location: { uidValidity: '7', uid },
    providerMessageId: 'p',
    isNew: true,
    emailId: 'e',
    threadId: null,
    messageId: '<m@x>',
    inReplyTo: null,
    references: [],
    subject: 's',
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
  return newMessageRow(incomingRow(message, { accountId: 'acc_1', labelId: 'lbl_1', nowMs: 1 }), {
    accountId: 'acc_1',
    labelId: 'lbl_1',
    id,
    nowMs: 1,
  })
}
