import * as Type from 'typebox'
import { type App, done, type Idempotency, ifMatchVersion, withVersion } from '../../platform/http/index.ts'
import { contactSchema } from '../api.ts'
import type { ContactPhotos } from '../photo.ts'
import type { ContactChanger } from './changer.ts'
import { createContactBody, updateContactBody } from './input.ts'

const TAGS = ['Contacts']
const WRITE = { access: 'key:write' } as const
const accountParams = Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) })
const contactParams = Type.Object({
  ...accountParams.properties,
  contactId: Type.String({ description: 'The id of the contact.' }),
})

export function contactChangeRoutes(
  app: App,
  { changer, photos, idempotency }: { changer: ContactChanger; photos: ContactPhotos; idempotency: Idempotency },
): void {
  app.post(
    '/accounts/:accountId/contacts',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'createContact',
        errors: [502, 504],
        summary: 'Create a contact',
        description:
          'Creates the contact at the provider. With an Idempotency-Key, a request that is repeated after a failure creates it once.',
        params: accountParams,
        body: createContactBody,
        response: { 200: contactSchema },
      },
    },
    idempotency.writing(async ({ params, body }, reply, requestKey) => {
      const store = await changer.create(params.accountId, body, requestKey)
      return async (tx) => withVersion(reply, await store(tx))
    }),
  )

  app.patch(
    '/accounts/:accountId/contacts/:contactId',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'updateContact',
        errors: [502, 504],
        summary: 'Change a contact',
        description:
          'Changes the given fields, at the provider too. Null empties a field, and a list replaces the list. Without `If-Match` the last request wins. With it, and another version than the current one, the response is 409 with the current contact in `error.current`.',
        params: contactParams,
        headers: Type.Object({
          'if-match': Type.Optional(
            Type.String({ description: 'The `version` of the contact that the request is for, in quotes or not.' }),
          ),
        }),
        body: updateContactBody,
        response: { 200: contactSchema },
      },
    },
    async ({ params, headers, body }, reply) => {
      const ifMatch = ifMatchVersion(headers['if-match'])
      return withVersion(reply, await changer.update(params.accountId, params.contactId, body, ifMatch))
    },
  )

  app.delete(
    '/accounts/:accountId/contacts/:contactId',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'deleteContact',
        errors: [502, 504],
        summary: 'Delete a contact',
        description: 'Deletes the contact at the provider too.',
        params: contactParams,
        response: { 200: done },
      },
    },
    async ({ params }) => {
      await changer.remove(params.accountId, params.contactId)
      return { success: true, message: 'The contact was deleted.' }
    },
  )

  app.get(
    '/accounts/:accountId/contacts/:contactId/photo',
    {
      config: { access: 'key:read' },
      schema: {
        tags: TAGS,
        operationId: 'getContactPhoto',
        errors: [409, 502, 504],
        summary: 'Get the photo of a contact',
        description:
          'As the provider has it now: a JPEG, PNG, GIF or WebP image of at most 5 MB. 404 when there is none, or when it is something else.',
        params: contactParams,
        produces: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'],
      },
    },
    async ({ params }, reply) => {
      const { contentType, bytes } = await photos.read(params.accountId, params.contactId)
      return reply
        .header('content-type', contentType)
        .header('x-content-type-options', 'nosniff')
        .header('content-security-policy', 'sandbox')
        .header('cache-control', 'private, max-age=300')
        .send(bytes)
    },
  )
}
