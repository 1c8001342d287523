import { isoTime, isoTimeOrNull } from '../../lib/time.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import type { Message } from './api.ts'
import type { MessageRow } from './store.ts'
import type { MessageFields } from './storing/row.ts'

/** What the row itself does not hold. */
export interface MessageContext {
  provider: ProviderName
  labelIds: string[]
  /** Name of the folder, for imap its path; null where it has only labels. */
  folder: string | null
}

export function messageView(row: MessageRow, context: MessageContext): Message {
  const { date, attachments, ...shown } = parseFields(row.fields)
  return {
    id: row.id,
    accountId: row.accountId,
    provider: context.provider,
    providerMessageId: row.providerMessageId,
    threadId: row.threadId,
    ...shown,
    subject: row.subject,
    date: isoTimeOrNull(date),
    receivedAt: isoTime(row.receivedAt),
    snippet: row.snippet,
    labelIds: context.labelIds,
    folder: context.folder,
    unread: row.unread === 1,
    starred: row.starred === 1,
    hasAttachments: row.hasAttachments === 1,
    attachments: attachments.map(({ sizeBytes, ...rest }) => ({ ...rest, size: sizeBytes })),
    size: row.sizeBytes,
    error: row.error,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

/** `fields` was written by `incomingRow`, so its shape is known. */
export function parseFields(text: string): MessageFields {
  return JSON.parse(text)
}
