import { MAX_DATA_BYTES, type NewEvent } from '../../events/index.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import type { LabelRow } from '../labels/index.ts'
import { type Message, type MessageContext, messageView } from './api.ts'
import type { MessageEventType } from './event-types.ts'
import type { MessageEventData } from './events.ts'
import { toDraftId } from './rows/draft-keys.ts'
import type { MessageRow } from './store.ts'

export interface EventBodies {
  text: string | null
  html: string | null
}

/** The event of a message that sync has found, with what is known of the message beside the data. */
export interface ArrivalEvent extends NewEvent<MessageEventType, MessageEventData> {
  /** A program wrote the message without a person. */
  isAutomatic: boolean
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
