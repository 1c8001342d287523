import * as Type from 'typebox'
import type { List, Message, MessageDetail, ThreadDetail } from '../../../ui/generated/api-objects.ts'
import { shortText } from '../clean-text.ts'
import { apiPath, type RestApi } from '../rest-api.ts'
import { ToolError, tool } from '../tool.ts'
import { ACCOUNT, CURSOR, LIMIT, MESSAGE, TIME } from './arguments.ts'
import { bodyText, messageView, textPart, viewMessage } from './message-view.ts'
import { PAGE_FACTS, pageFacts, pageSummary } from './pages.ts'

/** About 5,000 tokens. */
const BODY_CHARACTERS = 20_000
const THREAD_MESSAGES = 20
const THREAD_BODY_CHARACTERS = 4000
/** How many messages of a thread are read from the provider at once. */
const THREAD_READS = 4

const words = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }))

const searchMessages = tool({
  name: 'search_messages',
  title: 'Search and list messages',
  description:
    'Lists messages of an account, newest first, without their bodies. Without query, from, to, subject and labelId it lists the inbox of an IMAP account, or all mail outside trash and junk.',
  access: 'read',
  input: {
    accountId: ACCOUNT,
    query: words(
      'Only messages with all these words in addresses, subject, names of attachments or the beginning of the text.',
    ),
    from: words('Words in the name or address of the sender.'),
    to: words('Words in the names or addresses of the recipients.'),
    subject: words('Words in the subject.'),
    labelId: Type.Optional(
      Type.String({ maxLength: 2048, description: 'Only messages with this label, from list_labels.' }),
    ),
    after: Type.Optional(TIME('Only messages received at this time or later.')),
    before: Type.Optional(TIME('Only messages received before this time.')),
    unread: Type.Optional(Type.Boolean()),
    hasAttachments: Type.Optional(Type.Boolean()),
    limit: LIMIT,
    cursor: CURSOR,
  },
  facts: PAGE_FACTS,
  untrusted: { messages: Type.Array(Type.Object(messageView)) },
  async run({ accountId, query, ...filters }, { api }) {
    const path = apiPath`/accounts/${accountId}/messages`
    const found = await api.get<List<'messages', Message>>(path, { q: query, ...filters })
    const messages = found.messages.map(viewMessage)
    return {
      summary: pageSummary('message', messages.length, found.pagination),
      facts: pageFacts(messages.length, found.pagination),
      untrusted: { messages },
    }
  },
})

const readMessage = tool({
  name: 'read_message',
  title: 'Read a message',
  description: `Returns one message with its text; HTML is converted to text. A long text comes in parts of ${BODY_CHARACTERS} characters: pass nextOffset as offset to get the next one. Does not mark the message as read.`,
  access: 'read',
  input: {
    accountId: ACCOUNT,
    messageId: MESSAGE,
    offset: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'Where in the text to begin.' })),
  },
  facts: {
    totalCharacters: Type.Integer({ description: 'The length of the whole text.' }),
    nextOffset: Type.Optional(Type.Integer({ description: 'Where the next part begins.' })),
  },
  untrusted: {
    message: Type.Object({ ...messageView, replyTo: Type.Optional(Type.String()), text: Type.String() }),
  },
  async run({ accountId, messageId, offset = 0 }, { api }) {
    const detail = await readDetail(api, accountId, messageId)
    const { text, nextOffset, totalCharacters } = textPart(bodyText(detail), offset, BODY_CHARACTERS)
    const { snippet, ...view } = viewMessage(detail)
    const [replyTo] = detail.replyTo
    return {
      summary:
        nextOffset === undefined
          ? 'The message.'
          : `The message, cut at ${nextOffset} of ${totalCharacters} characters. More: call again with offset ${nextOffset}.`,
      facts: { totalCharacters, ...(nextOffset !== undefined && { nextOffset }) },
      untrusted: { message: { ...view, ...(replyTo && { replyTo: shortText(replyTo.email, 320) }), text } },
    }
  },
})

const readThread = tool({
  name: 'read_thread',
  title: 'Read a conversation',
  description: `Returns the messages of a thread, newest first, each with the first ${THREAD_BODY_CHARACTERS} characters of its text, at most ${THREAD_MESSAGES} messages per call. read_message returns a text in full.`,
  access: 'read',
  input: {
    accountId: ACCOUNT,
    threadId: Type.String({ minLength: 1, maxLength: 2048, description: 'threadId of one of its messages.' }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: THREAD_MESSAGES, default: 10 })),
    cursor: CURSOR,
  },
  facts: PAGE_FACTS,
  untrusted: {
    thread: Type.Object({
      id: Type.String(),
      subject: Type.String(),
      messages: Type.Array(
        Type.Object({
          ...messageView,
          text: Type.String(),
          textIsCut: Type.Boolean(),
          problem: Type.Optional(Type.String({ description: 'Why the text could not be read.' })),
        }),
      ),
    }),
  },
  async run({ accountId, threadId, limit, cursor }, { api }) {
    const path = apiPath`/accounts/${accountId}/threads/${threadId}`
    const thread = await api.get<ThreadDetail>(path, { limit, cursor })
    const messages = []
    for (let index = 0; index < thread.messages.length; index += THREAD_READS) {
      const next = thread.messages.slice(index, index + THREAD_READS)
      messages.push(...(await Promise.all(next.map((message) => readBeginning(api, accountId, message)))))
    }
    return {
      summary: pageSummary('message', messages.length, thread.pagination),
      facts: pageFacts(messages.length, thread.pagination),
      untrusted: { thread: { id: thread.id, subject: shortText(thread.subject, 300), messages } },
    }
  },
})

/** One message that cannot be read, such as one that was deleted meanwhile, does not hide the others. */
async function readBeginning(api: RestApi, accountId: string, message: Message) {
  const { snippet, ...view } = viewMessage(message)
  try {
    const detail = await readDetail(api, accountId, message.id)
    const { text, nextOffset } = textPart(bodyText(detail), 0, THREAD_BODY_CHARACTERS)
    return { ...view, text, textIsCut: nextOffset !== undefined }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    return { ...view, text: snippet, textIsCut: true, problem: error.message }
  }
}

function readDetail(api: RestApi, accountId: string, messageId: string): Promise<MessageDetail> {
  return api.get<MessageDetail>(apiPath`/accounts/${accountId}/messages/${messageId}`)
}

export const messageTools = [searchMessages, readMessage, readThread]
