import * as Type from 'typebox'
import { type App, done, type Idempotency } from '../../platform/http/index.ts'
import { contactGroupSchema, groupView } from '../api.ts'
import type { ContactGroupChanger } from './group-changer.ts'

const TAGS = ['Contacts']
const WRITE = { access: 'key:write' } as const
const NOT_SUPPORTED =
  '409 not_supported where groups exist only as categories on contacts: with microsoft and imap accounts.'
const accountParams = Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) })
const groupParams = Type.Object({
  ...accountParams.properties,
  groupId: Type.String({ description: 'From the list of groups.' }),
})
const groupBody = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Another group of the account must not have it, in any case.',
  }),
})

export function contactGroupChangeRoutes(
  app: App,
  { changer, idempotency }: { changer: ContactGroupChanger; idempotency: Idempotency },
): void {
  app.post(
    '/accounts/:accountId/contact-groups',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'createContactGroup',
        errors: [502, 504],
        summary: 'Create a group of contacts',
        description: `Creates the group at the provider. 409 conflict when a group has the name. ${NOT_SUPPORTED}`,
        params: accountParams,
        body: groupBody,
        response: { 200: contactGroupSchema },
      },
    },
    idempotency.writing(async ({ params, body }, _reply, requestKey) => {
      const store = await changer.create(params.accountId, body, requestKey)
      return async (tx) => {
        const { row, memberCount } = await store(tx)
        return groupView(row, memberCount)
      }
    }),
  )

  app.patch(
    '/accounts/:accountId/contact-groups/:groupId',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'updateContactGroup',
        errors: [502, 504],
        summary: 'Rename a group of contacts',
        description: `Renames the group at the provider, too. No event announces it. 409 conflict when another group has the name. ${NOT_SUPPORTED}`,
        params: groupParams,
        body: groupBody,
        response: { 200: contactGroupSchema },
      },
    },
    async ({ params, body }) => {
      const { row, memberCount } = await changer.rename(params.accountId, params.groupId, body)
      return groupView(row, memberCount)
    },
  )

  app.delete(
    '/accounts/:accountId/contact-groups/:groupId',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'deleteContactGroup',
        errors: [502, 504],
        summary: 'Delete a group of contacts',
        description: `Deletes the group at the provider, too. Its contacts remain; contact.updated announces each. ${NOT_SUPPORTED}`,
        params: groupParams,
        response: { 200: done },
      },
    },
    async ({ params }) => {
      await changer.remove(params.accountId, params.groupId)
      return { success: true, message: 'The group was deleted.' }
    },
  )
}
