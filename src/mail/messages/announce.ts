import { MAX_DATA_BYTES, type NewEvent } from '../../events/index.ts'
import type { FolderRole, ProviderName } from '../../providers/contract/index.ts'
import type { LabelRow } from '../labels/index.ts'
import { type Message, type MessageContext, messageView } from './api.ts'
import type { MessageEventData } from './events.ts'
import { toDraftId } from './rows/draft-keys.ts'
import type { MessageRow } from './store.ts'

export interface EventBodies {
  text: string | null
  html: string | null
}

/** The event of a message that was not stored before. */
export type ArrivalType = 'message.received' | 'message.sent' | 'draft.created'
export type MessageEventType = ArrivalType | 'draft.updated' | 'draft.deleted' | 'message.updated' | 'message.deleted'

/** The event of a message that sync has found, with what is known of the message beside the data. */
export interface ArrivalEvent extends NewEvent<MessageEventType, MessageEventData> {
  /** A program wrote the message without a person. */
  isAutomatic: boolean
}

/** Event type of a new message, by the role of its folder. Undefined where `mailbox.changed` is the only event. */
export function arrivalType(role: FolderRole | null): ArrivalType | undefined {
  if (role === 'trash' || role === 'junk') return undefined
  if (role === 'sent') return 'message.sent'
  return role === 'drafts' ? 'draft.created' : 'message.received'
}

/** Event types of a visible change, by the roles of the message's folder before and after it. A draft has no message events. */
export function changeTypes(before: FolderRole | null, after: FolderRole | null): MessageEventType[] {
  if (before !== 'drafts') return [after === 'drafts' ? 'draft.created' : 'message.updated']
  if (after === 'drafts') return ['draft.updated']
  if (after === 'trash' || after === 'junk') return ['draft.deleted']
  return ['draft.deleted', after === 'sent' ? 'message.sent' : 'message.updated']
}

/** Event type of a message that was deleted from the folder with this role. */
export function deletionType(role: FolderRole | null): MessageEventType {
  return role === 'drafts' ? 'draft.deleted' : 'message.deleted'
}

export function arrivalEvent(event: NewEvent<MessageEventType, MessageEventData>, isAutomatic: boolean): ArrivalEvent {
  return { ...event, isAutomatic }
}

/** Event about a message that is stored in one folder. */
export function messageEvent(
  type: MessageEventType,
  row: MessageRow,
  label: LabelRow | undefined,
  provider: ProviderName,
  body?: EventBodies,
): NewEvent<MessageEventType, MessageEventData> {
  const labelIds = label === undefined ? [] : [label.id]
  return labelledEvent(type, row, { provider, labelIds, folder: label?.name ?? null }, body)
}

export function labelledEvent(
  type: MessageEventType,
  row: MessageRow,
  context: MessageContext,
  body?: EventBodies,
): NewEvent<MessageEventType, MessageEventData> {
  const message = messageView(row, context)
  const data = body === undefined && isSmall(row, context) ? message : limitSize(message, body)
  return {
    type,
    accountId: row.accountId,
    provider: context.provider,
    objectId: row.id,
    version: row.version,
    data: type.startsWith('draft.') ? { ...data, draftId: toDraftId(row.id) } : data,
  }
}

/** In JSON, as UTF-8. */
const MAX_BYTES_PER_CHARACTER = 6
/** The names of the members, ids, times and the error. */
const OTHER_BYTES = 8192
const BYTES_PER_LABEL = 100

/** True for nearly every message, so that few are turned into JSON only to measure it. */
function isSmall({ subject, snippet, fields }: MessageRow, { labelIds, folder }: MessageContext): boolean {
  const characters = subject.length + snippet.length + fields.length + (folder?.length ?? 0)
  const bytes = MAX_BYTES_PER_CHARACTER * characters + BYTES_PER_LABEL * labelIds.length + OTHER_BYTES
  return bytes <= MAX_DATA_BYTES
}

const MAX_LIST_ITEMS = 50

/** Event data has at most 256 KB. Drops the body first, then shortens long lists, then empties them. */
function limitSize(message: Message, body: EventBodies | undefined): MessageEventData {
  const complete = body === undefined ? { ...message } : { ...message, body }
  if (fits(complete)) return complete
  if (body !== undefined && fits(message)) return { ...message, truncated: true }
  const short = <T>(list: readonly T[]) => list.slice(0, MAX_LIST_ITEMS)
  const { references, to, cc, bcc, replyTo, attachments } = message
  const shortened = {
    ...message,
    references: short(references),
    to: short(to),
    cc: short(cc),
    bcc: short(bcc),
    replyTo: short(replyTo),
    attachments: short(attachments),
    truncated: true,
  }
  return fits(shortened)
    ? shortened
    : { ...shortened, references: [], to: [], cc: [], bcc: [], replyTo: [], attachments: [] }
}

function fits(data: object): boolean {
  return Buffer.byteLength(JSON.stringify(data)) <= MAX_DATA_BYTES
}
