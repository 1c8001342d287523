import * as Type from 'typebox'
import { type App, done, type Idempotency, ifMatchVersion, withVersion } from '../../platform/http/index.ts'
import { attachmentRoute, sendResult } from '../outgoing/index.ts'
import {
  createBody,
  createBodyWithAccount,
  draftList,
  draftQuery,
  draftSchema,
  saveResult,
  sendDraftBody,
  updateBody,
} from './api.ts'
import type { DraftService } from './service.ts'

interface DraftRoutesDeps {
  drafts: DraftService
  idempotency: Idempotency
}

const tags = ['Drafts']
const accountParams = Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) })
const draftParams = Type.Object({ draftId: Type.String({ minLength: 1, description: 'The id of the draft.' }) })
const ifMatchHeader = Type.Object({
  'if-match': Type.Optional(
    Type.String({ description: 'The `version` of the draft that the request is for, in quotes or not.' }),
  ),
})
const WRITE = { access: 'key:write' } as const

export function draftRoutes(app: App, { drafts, idempotency }: DraftRoutesDeps): void {
  app.get(
    '/accounts/:accountId/drafts',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'listDrafts',
        summary: 'List drafts, newest first',
        description: 'Every message in the Drafts folder, whichever program wrote it.',
        params: accountParams,
        querystring: draftQuery,
        response: { 200: draftList },
      },
    },
    async (request) => {
      const { items, pagination } = await drafts.list(request.params.accountId, request.query)
      return { drafts: items, pagination }
    },
  )

  app.post(
    '/accounts/:accountId/drafts',
    {
      ...attachmentRoute,
      schema: {
        tags,
        operationId: 'saveDraft',
        errors: [502, 504],
        summary: 'Save a draft, with its tracking values',
        description:
          'Saves the draft at the provider, as POST /drafts does. The tracking values are not part of the draft.',
        params: accountParams,
        body: createBody,
        response: { 200: saveResult },
      },
    },
    idempotency.writing(async ({ params, body, files }, _reply, requestKey) => {
      const store = await drafts.createTracked(params.accountId, body, { requestKey, files })
      return async (tx) => {
        const { row, draft, tracking } = await store(tx)
        const { id: draftId, messageId } = draft
        const { providerMessageId } = row
        return {
          success: true,
          result: { success: true, messageId, draftId, providerMessageId, tracking },
        }
      }
    }),
  )

  app.post(
    '/drafts',
    {
      ...attachmentRoute,
      schema: {
        tags,
        operationId: 'createDraft',
        errors: [404, 502, 504],
        summary: 'Save a draft',
        description:
          'Saves a draft at the provider. With an Idempotency-Key, a request that is repeated after a failure saves it once.',
        body: createBodyWithAccount,
        response: { 200: draftSchema },
      },
    },
    idempotency.writing(async ({ body, files }, reply, requestKey) => {
      const store = await drafts.create(body.accountId, body, { requestKey, files })
      return async (tx) => withVersion(reply, (await store(tx)).draft)
    }),
  )

  app.get(
    '/drafts/:draftId',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getDraft',
        errors: [502, 504],
        summary: 'Get a draft',
        params: draftParams,
        response: { 200: draftSchema },
      },
    },
    async (request, reply) => withVersion(reply, await drafts.get(request.params.draftId)),
  )

  app.put(
    '/drafts/:draftId',
    {
      ...attachmentRoute,
      schema: {
        tags,
        operationId: 'updateDraft',
        errors: [409, 502, 504],
        summary: 'Change a draft',
        description:
          'Replaces the given fields, at the provider too. Without `If-Match` the last request wins. With it, and another version than the current one, the response is 409 with the current draft in `error.current`.',
        params: draftParams,
        headers: ifMatchHeader,
        body: updateBody,
        response: { 200: draftSchema },
      },
    },
    async (request, reply) => {
      const ifMatch = ifMatchVersion(request.headers['if-match'])
      const { params, body = {}, files } = request
      return withVersion(reply, await drafts.update(params.draftId, body, { ifMatch, files }))
    },
  )

  app.delete(
    '/drafts/:draftId',
    {
      config: WRITE,
      schema: {
        tags,
        operationId: 'deleteDraft',
        errors: [409, 502, 504],
        summary: 'Delete a draft for good',
        description: 'Deletes it at the provider too.',
        params: draftParams,
        response: { 200: done },
      },
    },
    async (request) => {
      await drafts.remove(request.params.draftId)
      return { success: true, message: 'The draft was deleted.' }
    },
  )

  app.post(
    '/drafts/:draftId/send',
    {
      config: WRITE,
      schema: {
        tags,
        operationId: 'sendDraft',
        errors: [502, 504],
        summary: 'Send a draft',
        description:
          'Accepts the current version of the draft and sends it in the background, once: see the outbox. A change or a deletion of the draft after the request does not change what is sent; cancel the message in the outbox for that. Once it was sent, the draft is deleted, unless it was changed in between. `If-Match` as for a change.',
        params: draftParams,
        headers: ifMatchHeader,
        body: sendDraftBody,
        response: { 200: sendResult },
      },
    },
    idempotency.writing(({ params, headers, body }) =>
      drafts.send(params.draftId, body ?? {}, ifMatchVersion(headers['if-match'])),
    ),
  )
}
