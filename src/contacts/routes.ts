import * as Type from 'typebox'
import { documentedDefault, nullable, timestamp } from '../platform/formats/json-schema.ts'
import { pageOfAll } from '../platform/formats/pagination.ts'
import { type App, listSchema, pageQuery, pagination, withVersion } from '../platform/http/index.ts'
import { addressBookSchema, bookView, contactGroupSchema, contactSchema, groupView } from './api.ts'
import type { ContactReader } from './read/reader.ts'

const TAGS = ['Contacts']
const READ = { access: 'key:read' } as const
const accountParams = Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) })
const filter = (description: string) => Type.Optional(Type.String({ description, maxLength: 500 }))

const contactList = Type.Object({
  contacts: Type.Array(contactSchema),
  pagination,
  syncedAt: nullable(
    timestamp(
      'When the contacts were last known to be current. Null until the first sync is complete, and for people of messages.',
    ),
  ),
})

export function contactRoutes(app: App, reader: ContactReader): void {
  app.get(
    '/accounts/:accountId/contacts',
    {
      config: READ,
      schema: {
        tags: TAGS,
        operationId: 'listContacts',
        errors: [409, 502, 504],
        summary: 'List the contacts of an account',
        description:
          'By surname, then by the other names. Filters are combined. 409 not_supported while the setting CONTACTS_ENABLED is off.',
        params: accountParams,
        querystring: Type.Object({
          ...pageQuery,
          q: filter('Words in names, company, position, addresses, numbers and categories, or in a part of them.'),
          email: filter('Only contacts with this address, in any case.'),
          phone: filter('Only contacts with this number, however its digits are separated.'),
          group: filter('Only members of the group with this id.'),
          source: Type.Optional(
            Type.Enum(['address_book', 'inbox'], {
              type: 'string',
              description:
                'inbox: people with whom the account has exchanged messages, without programs and lists. They are learnt some minutes after a message arrives.',
              ...documentedDefault('address_book'),
            }),
          ),
          addressBookId: filter("Only contacts of this address book: our id or the provider's."),
        }),
        response: { 200: contactList },
      },
    },
    async ({ params, query }) => {
      const { items, ...page } = await reader.contacts(params.accountId, query)
      return { contacts: items, ...page }
    },
  )

  app.get(
    '/accounts/:accountId/contacts/:contactId',
    {
      config: READ,
      schema: {
        tags: TAGS,
        operationId: 'getContact',
        errors: [409, 502, 504],
        summary: 'Get a contact',
        params: Type.Object({
          ...accountParams.properties,
          contactId: Type.String({ description: 'The id of the contact.' }),
        }),
        response: { 200: contactSchema },
      },
    },
    async ({ params }, reply) => withVersion(reply, await reader.contact(params.accountId, params.contactId)),
  )

  app.get(
    '/accounts/:accountId/contact-groups',
    {
      config: READ,
      schema: {
        tags: TAGS,
        operationId: 'listContactGroups',
        errors: [409, 502, 504],
        summary: 'List the groups of contacts',
        params: accountParams,
        querystring: Type.Object(pageQuery),
        response: { 200: listSchema('groups', contactGroupSchema) },
      },
    },
    async ({ params, query }) => {
      const { rows, accountId } = await reader.groups(params.accountId)
      const page = pageOfAll(rows, query, ['contact-groups', accountId], ({ name, id }) => `${name}\n${id}`)
      const groups = page.items.map(({ memberCount, ...row }) => groupView(row, memberCount))
      return { groups, pagination: page.pagination }
    },
  )

  app.get(
    '/accounts/:accountId/address-books',
    {
      config: READ,
      schema: {
        tags: TAGS,
        operationId: 'listAddressBooks',
        errors: [409, 502, 504],
        summary: 'List the address books of an account',
        description:
          'Address books of CardDAV, contact folders of Outlook, and the contacts of Google, with the state of their sync.',
        params: accountParams,
        querystring: Type.Object(pageQuery),
        response: { 200: listSchema('addressBooks', addressBookSchema) },
      },
    },
    async ({ params, query }) => {
      const { rows, provider, accountId } = await reader.books(params.accountId)
      const page = pageOfAll(rows, query, ['address-books', accountId], ({ id }) => id)
      const unreadable = await reader.unreadable(page.items)
      const addressBooks = page.items.map((row) => bookView(row, provider, unreadable.get(row.id)))
      return { addressBooks, pagination: page.pagination }
    },
  )
}
