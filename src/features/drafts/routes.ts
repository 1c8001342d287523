import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { type App, done, type Idempotency } from '../../infra/http/index.ts'
import { invalid } from '../../lib/errors.ts'
import { createBody, createBodyWithAccount, draftList, draftQuery, draftSchema, saveResult, updateBody } from './api.ts'
import type { DraftService } from './service.ts'

export interface DraftRoutesDeps {
  drafts: DraftService
  idempotency: Idempotency
}

const tags = ['Drafts']
const accountParams = Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) })
const draftParams = Type.Object({ draftId: Type.String({ minLength: 1 }) })
const WRITE = { access: 'key:write' } as const

export function draftRoutes(app: App, { drafts, idempotency }: DraftRoutesDeps): void {
  app.get(
    '/accounts/:accountId/drafts',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
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
      config: WRITE,
      schema: {
        tags,
        summary: 'Save a draft, with its tracking values',
        description:
          'Saves the draft at the provider, as POST /drafts does. The tracking values are not part of the draft.',
        params: accountParams,
        body: createBody,
        response: { 200: saveResult },
      },
    },
    idempotency.writing(async (request) => {
      const store = await drafts.create(request.params.accountId, request.body, requestKeyOf(request))
      return async (tx) => {
        const { row, draft, tracking } = await store(tx, { tracked: true })
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
      config: WRITE,
      schema: {
        tags,
        summary: 'Save a draft',
        description:
          'Saves a draft at the provider. With an Idempotency-Key, a request that is repeated after a failure saves it once.',
        body: createBodyWithAccount,
        response: { 200: draftSchema },
      },
    },
    idempotency.writing(async (request, reply) => {
      const store = await drafts.create(request.body.accountId, request.body, requestKeyOf(request))
      return async (tx) => {
        const { draft } = await store(tx, { tracked: false })
        reply.header('etag', `"${draft.version}"`)
        return draft
      }
    }),
  )

  app.get(
    '/drafts/:draftId',
    {
      config: { access: 'key:read' },
      schema: { tags, summary: 'Get a draft', params: draftParams, response: { 200: draftSchema } },
    },
    async (request, reply) => {
      const draft = await drafts.get(request.params.draftId)
      reply.header('etag', `"${draft.version}"`)
      return draft
    },
  )

  app.put(
    '/drafts/:draftId',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Change a draft',
        description:
          'Replaces the given fields, at the provider too; attachments stay. Without `If-Match` the last request wins. With it, and another version than the current one, the response is 409 with the current draft in `error.current`.',
        params: draftParams,
        headers: Type.Object({
          'if-match': Type.Optional(
            Type.String({ description: 'The `version` that the change is for, in quotes or not.' }),
          ),
        }),
        body: updateBody,
        response: { 200: draftSchema },
      },
    },
    async (request, reply) => {
      const version = versionOf(request.headers['if-match'])
      const draft = await drafts.update(request.params.draftId, request.body ?? {}, version)
      reply.header('etag', `"${draft.version}"`)
      return draft
    },
  )

  app.delete(
    '/drafts/:draftId',
    {
      config: WRITE,
      schema: {
        tags,
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
}

/** Undefined for none and for `*`, which any version matches. */
function versionOf(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  const version = /^\s*(?:W\/)?"?(\d{1,15})"?\s*$/.exec(ifMatch)?.[1]
  if (version === undefined) throw invalid('headers.if-match', 'must be the version of the draft')
  return Number(version)
}

interface KeyedRequest {
  headers: Record<string, string | string[] | undefined>
  caller: { owner: string } | undefined
  url: string
}

/** Identifies the draft of a request that may be repeated. */
function requestKeyOf({ headers, caller, url }: KeyedRequest): string | null {
  const key = headers['idempotency-key']
  if (typeof key !== 'string') return null
  return createHash('sha256')
    .update(JSON.stringify([caller?.owner, url, key]))
    .digest('hex')
}
