import * as Type from 'typebox'
import { type App, done, type Idempotency } from '../../../platform/http/index.ts'
import { messageSchema } from '../api.ts'
import type { MessageReader } from '../read/reader.ts'
import type { MessageChanger } from './changer.ts'

const WRITE = { access: 'key:write' } as const
const TAGS = ['Messages']
const accountParams = Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) })
const messageParams = Type.Object({
  ...accountParams.properties,
  messageId: Type.String({ description: 'The id of the message.' }),
})
const labelIds = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 100, description }))
const flags = { unread: Type.Optional(Type.Boolean()), starred: Type.Optional(Type.Boolean()) }

const ONE_FOLDER = 'A message of an imap or microsoft account has exactly one label, its folder: another one moves it.'

const batchResult = Type.Object({
  id: Type.String(),
  success: Type.Boolean(),
  error: Type.Optional(
    Type.Object({ code: Type.String(), type: Type.String(), message: Type.String() }, { title: 'BatchError' }),
  ),
})

interface MessageChangeRoutesDeps {
  changer: MessageChanger
  reader: MessageReader
  idempotency: Idempotency
}

export function messageChangeRoutes(app: App, { changer, reader, idempotency }: MessageChangeRoutesDeps): void {
  app.patch(
    '/accounts/:accountId/messages/:messageId',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'updateMessage',
        errors: [502, 504],
        summary: 'Mark, star, label or move a message',
        description: `Changes the message at the provider, then here; the response has its new state. ${ONE_FOLDER}`,
        params: messageParams,
        body: Type.Object({
          ...flags,
          labelIds: labelIds("All labels that the message shall have, by our id or the provider's."),
        }),
        response: { 200: messageSchema },
      },
    },
    async (request) => {
      const { accountId, messageId } = request.params
      const { unread, starred, labelIds } = request.body
      const isChange = [unread, starred, labelIds].some((member) => member !== undefined)
      if (isChange) await changer.changeOne(accountId, messageId, { unread, starred, labelIds })
      return reader.message(accountId, messageId)
    },
  )

  app.delete(
    '/accounts/:accountId/messages/:messageId',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'deleteMessage',
        errors: [502, 504],
        summary: 'Move a message to the trash, or delete it for good',
        description:
          'A Gmail account needs the scope https://mail.google.com/ to delete for good (409 consent_required); moving to the trash does not.',
        params: messageParams,
        querystring: Type.Object({
          permanent: Type.Optional(
            Type.Boolean({ default: false, description: 'True: deletes the message for good, wherever it is.' }),
          ),
        }),
        response: { 200: done },
      },
    },
    async (request) => {
      const { accountId, messageId } = request.params
      if (request.query.permanent === true) {
        await changer.remove(accountId, messageId)
        return { success: true, message: 'The message was deleted for good.' }
      }
      await changer.trash(accountId, messageId)
      return { success: true, message: 'The message is in the trash.' }
    },
  )

  app.post(
    '/accounts/:accountId/messages/batch',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'updateMessages',
        errors: [502, 504],
        summary: 'Change up to 500 messages',
        description: `Returns a result for each id, in order. A failure concerns that message only. ${ONE_FOLDER}`,
        params: accountParams,
        body: Type.Object({
          ids: Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 500 }),
          set: Type.Object({
            ...flags,
            addLabelIds: labelIds("Labels to add, by our id or the provider's."),
            removeLabelIds: labelIds('Labels to remove.'),
          }),
        }),
        response: { 200: Type.Object({ results: Type.Array(batchResult) }) },
      },
    },
    idempotency.writing(async (request) => {
      const { ids, set } = request.body
      const changed = await changer.changeMany(request.params.accountId, ids, set, 'body.set')
      const results = changed.map(({ id, error }) =>
        error === undefined
          ? { id, success: true }
          : { id, success: false, error: { code: error.code, type: error.type, message: error.message } },
      )
      // Stored already: the changes may be repeated, and each part of them has its own transaction.
      return async () => ({ results })
    }),
  )
}
