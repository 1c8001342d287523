import * as Type from 'typebox'
import { declareEvent, type EventOf, EXAMPLE_ACCOUNT } from '../../events/index.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import type { LabelRow } from './store.ts'

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

export interface FolderCounts {
  added: number
  updated: number
  deleted: number
}

export function folderEvent(
  label: LabelRow,
  version: number,
  provider: ProviderName,
  counts: FolderCounts,
): EventOf<typeof folderEvents> {
  return {
    type: 'mailbox.changed',
    accountId: label.accountId,
    provider,
    objectId: label.id,
    version,
    data: { folder: label.name, labelId: label.id, ...counts },
  }
}
