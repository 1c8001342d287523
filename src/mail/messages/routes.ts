import * as Type from 'typebox'
import { documentedDefault } from '../../platform/formats/json-schema.ts'
import { type App, listSchema, pageQuery, sendList } from '../../platform/http/index.ts'
import { requireTime } from '../../platform/time/time.ts'
import { messageDetailSchema, messageSchema } from './api.ts'
import { downloadHeaders, sendContent } from './downloads.ts'
import type { MessageReader } from './read/reader.ts'

const READ = { access: 'key:read' } as const
const accountParams = Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) })
const messageParams = Type.Object({
  ...accountParams.properties,
  messageId: Type.String({ description: 'The id of the message.' }),
})

const MAX_QUERY = 256

const listQuery = Type.Object({
  ...pageQuery,
  labelId: Type.Optional(Type.String({ description: "Only messages with this label: its id, or the provider's." })),
  mailbox: Type.Optional(
    Type.String({
      description:
        "imap only: the folder, by path or id. A folder that is not synced is read live, in the server's order.",
    }),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: MAX_QUERY,
      description:
        'Only messages with all these words in their addresses, subject, attachment names or the first 4 KB of text. Case and accents do not matter, and the last word may continue. Messages that are older than the stored ones are searched at the provider, in its way: see `pagination.source`.',
    }),
  ),
  from: Type.Optional(
    Type.String({
      maxLength: MAX_QUERY,
      description: 'Only messages with these words in name or address of the sender.',
    }),
  ),
  to: Type.Optional(
    Type.String({
      maxLength: MAX_QUERY,
      description: 'Only messages with these words in names or addresses of the recipients, cc and bcc included.',
    }),
  ),
  subject: Type.Optional(
    Type.String({ maxLength: MAX_QUERY, description: 'Only messages with these words in the subject.' }),
  ),
  after: Type.Optional(Type.String({ description: 'Only messages received at this time (RFC 3339) or later.' })),
  before: Type.Optional(Type.String({ description: 'Only messages received before this time (RFC 3339).' })),
  unread: Type.Optional(Type.Boolean({ description: 'True: only unread messages; false: only read ones.' })),
  hasAttachments: Type.Optional(
    Type.Boolean({ description: 'True: only messages with attachments; false: only those without.' }),
  ),
})

export function messageRoutes(app: App, { reader }: { reader: MessageReader }): void {
  const about = (summary: string, description?: string) => ({
    tags: ['Messages'],
    summary,
    ...(description !== undefined && { description }),
  })

  app.get(
    '/accounts/:accountId/messages',
    {
      config: READ,
      schema: {
        operationId: 'listMessages',
        errors: [502, 504],
        ...about(
          'List messages, newest first',
          "Without labelId and mailbox: the account's main folder for imap; every message outside trash and junk for gmail and microsoft. A search (q, from, to, subject) covers every synced folder outside trash and junk, for imap, too.",
        ),
        params: accountParams,
        querystring: listQuery,
        response: { 200: listSchema('messages', messageSchema) },
      },
    },
    async (request, reply) => {
      const { after, before, ...query } = request.query
      const { messages, pagination } = await reader.list(request.params.accountId, {
        ...query,
        labelId: query.labelId || undefined,
        mailbox: query.mailbox || undefined,
        q: query.q || undefined,
        from: query.from || undefined,
        to: query.to || undefined,
        subject: query.subject || undefined,
        after: optionalTime('query.after', after),
        before: optionalTime('query.before', before),
      })
      return sendList(reply, 'messages', messages, pagination)
    },
  )

  app.get(
    '/accounts/:accountId/messages/:messageId',
    {
      config: READ,
      schema: {
        operationId: 'getMessage',
        errors: [502, 504],
        ...about(
          'Get a message with its body and headers',
          'The service reads the body and the headers from the provider, unless sync.storeBodies is on.',
        ),
        params: messageParams,
        querystring: Type.Object({
          sanitize: Type.Optional(
            Type.Boolean({
              description:
                'Make `body.html` safe to show in a page: without scripts, forms, frames, embedded styles and everything else that runs or submits. It is one element that contains the message: nothing inside is painted or receives clicks outside of its box, and it takes its width from the element around it. Put it into a block element; see docs/security.md. Links open in a new tab; images stay, `cid:` ones with their addresses, which name the `contentId` of an attachment.',
              ...documentedDefault(false),
            }),
          ),
        }),
        response: { 200: messageDetailSchema },
      },
    },
    (request) => reader.detail(request.params.accountId, request.params.messageId, request.query),
  )

  const download = { method: ['GET', 'HEAD'] as ('GET' | 'HEAD')[], exposeHeadRoute: false, config: READ }

  app.route({
    ...download,
    url: '/accounts/:accountId/messages/:messageId/raw',
    schema: {
      operationId: 'downloadMessage',
      errors: [502, 504],
      ...about('Download the original message (RFC 5322) from the provider'),
      params: messageParams,
      headers: downloadHeaders,
      produces: ['message/rfc822'],
      ranges: true,
    },
    handler: async (request, reply) => {
      const { accountId, messageId } = request.params
      return sendContent(request, reply, await reader.openRaw(accountId, messageId))
    },
  })

  app.route({
    ...download,
    url: '/accounts/:accountId/messages/:messageId/attachments/:attachmentId',
    schema: {
      operationId: 'downloadAttachment',
      errors: [502, 504],
      ...about('Download an attachment'),
      params: Type.Object({
        ...messageParams.properties,
        attachmentId: Type.String({ description: 'The id in the attachments of the message.' }),
      }),
      headers: downloadHeaders,
      produces: ['*/*'],
      ranges: true,
    },
    handler: async (request, reply) => {
      const { accountId, messageId, attachmentId } = request.params
      return sendContent(request, reply, await reader.openAttachment(accountId, messageId, attachmentId))
    },
  })
}

function optionalTime(path: string, text: string | undefined): number | undefined {
  return text === undefined || text === '' ? undefined : requireTime(path, text)
}
