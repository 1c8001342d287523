import { Type } from 'typebox'
import { declareEvent, EXAMPLE_ACCOUNT } from '../../events/index.ts'

const mailboxChanged = Type.Object(
  {
    folder: Type.String({ description: 'Path of the folder or name of the label.' }),
    labelId: Type.String(),
    added: Type.Integer({ minimum: 0, description: 'Messages that arrived, including those moved here.' }),
    updated: Type.Integer({ minimum: 0 }),
    deleted: Type.Integer({ minimum: 0, description: 'Messages that were deleted or moved elsewhere.' }),
  },
  { title: 'MailboxChangedData' },
)

const INBOX = 'lbl_01k9zv3j1c3e5g7j9m1p3r5t7v'

export const folderEvents = {
  'mailbox.changed': declareEvent('The messages of a folder changed. Sent once per folder and sync.', mailboxChanged, {
    ...EXAMPLE_ACCOUNT,
    objectId: INBOX,
    version: 318,
    data: { folder: 'INBOX', labelId: INBOX, added: 1, updated: 0, deleted: 0 },
  }),
}
