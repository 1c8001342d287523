import type {
  FoundMessage,
  FoundPage,
  MailboxBackfillPage,
  MailboxBackfillRequest,
  MailboxSearch,
} from '../../../../src/providers/contract/index.ts'
import type { DoubleMessage } from './mailbox-double.ts'

/** Finds words anywhere in subject and text, as parts of words. A page continues behind the last message of the previous one. */
export function searchDouble(newestFirst: readonly DoubleMessage[], request: MailboxSearch): FoundPage {
  const { text = [], subject = [], after = 0, before = Number.POSITIVE_INFINITY, unread } = request.search
  const matching = newestFirst.filter(
    (message) =>
      text.every((word) => `${message.subject} ${message.text}`.toLowerCase().includes(word)) &&
      subject.every((word) => message.subject.toLowerCase().includes(word)) &&
      message.receivedAt >= after &&
      message.receivedAt < before &&
      (unread === undefined || message.unread === unread),
  )
  const start = request.page === undefined ? 0 : Number(request.page)
  const end = start + request.limit
  return {
    found: matching.slice(start, end).map((message) => foundMessage(message, Number.POSITIVE_INFINITY)),
    next: end < matching.length ? String(end) : null,
  }
}

/** Reads one page. Messages of one time may be returned again. */
export async function backfillDouble(
  newestFirst: readonly DoubleMessage[],
  { sinceMs, beforeMs, limit, findStored }: MailboxBackfillRequest,
): Promise<MailboxBackfillPage> {
  const older = newestFirst.filter(({ receivedAt }) => receivedAt >= sinceMs && receivedAt <= beforeMs)
  const stored = await findStored(older.map(({ id }) => id))
  const unknown = older.filter(({ id }) => !stored.has(id)).slice(0, limit)
  const last = unknown.length < limit ? older.at(-1) : unknown.at(-1)
  const read = last === undefined ? [] : older.slice(0, older.indexOf(last) + 1)
  return {
    found: unknown.map((message) => foundMessage(message, Number.POSITIVE_INFINITY)),
    passed: read.filter(({ id, receivedAt }) => stored.has(id) && receivedAt < beforeMs).length,
    nextMs: last === undefined || last === older.at(-1) ? null : last.receivedAt,
  }
}

/** `isNew` depends on the `baseline`: the last change before the account was connected. */
export function foundMessage(message: DoubleMessage, baseline: number): FoundMessage {
  return {
    folders: message.folders,
    message: {
      providerMessageId: message.id,
      isNew: message.arrived > baseline,
      emailId: null,
      threadId: `thread of ${message.id}`,
      messageId: `<${message.id}@x>`,
      inReplyTo: null,
      references: [],
      from: null,
      to: [],
      cc: [],
      bcc: [],
      replyTo: [],
      date: null,
      sizeBytes: 1,
      attachments: [],
      headerHash: message.id,
      error: null,
      text: message.text,
      snippet: message.text,
      subject: message.subject,
      receivedAt: message.receivedAt,
      unread: message.unread,
      starred: message.starred,
      ...message.parsed,
    },
  }
}
