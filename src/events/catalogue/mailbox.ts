import { Type } from 'typebox'
import { entry } from './entry.ts'
import { ACCOUNT } from './parts.ts'

const mailboxChanged = Type.Object(
  {
    folder: Type.String({ description: 'Path of the folder, or name of the label.' }),
    labelId: Type.String(),
    added: Type.Integer({ minimum: 0, description: 'Messages that came in, moved ones included.' }),
    updated: Type.Integer({ minimum: 0 }),
    deleted: Type.Integer({ minimum: 0, description: 'Messages that left, moved ones included.' }),
  },
  { title: 'MailboxChangedData' },
)

const INBOX = 'lbl_01k9zv3j1c3e5g7j9m1p3r5t7v'

export const mailboxEvents = {
  'mailbox.changed': entry(
    'The messages of a folder changed; one event per folder and pass of synchronisation.',
    mailboxChanged,
    {
      ...ACCOUNT,
      objectId: INBOX,
      version: 318,
      data: { folder: 'INBOX', labelId: INBOX, added: 1, updated: 0, deleted: 0 },
    },
  ),
}
