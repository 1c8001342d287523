import * as Type from 'typebox'
import type { Contact, List } from '../../../ui/generated/api-objects.ts'
import { apiPath } from '../rest-api.ts'
import { tool } from '../tool.ts'
import { ACCOUNT, CURSOR, LIMIT } from './arguments.ts'
import { contactDetails, contactView, viewContact, viewContactDetails } from './contact-view.ts'
import { PAGE_FACTS, pageFacts, pageSummary } from './pages.ts'

const searchContacts = tool({
  name: 'search_contacts',
  title: 'Search and list contacts',
  description:
    'Lists contacts of an account by name, or with source inbox the people with whom it has exchanged messages. Use it to find the address of a person. Works only where contacts are switched on.',
  access: 'read',
  input: {
    accountId: ACCOUNT,
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'Only contacts with all these words in names, company, position, addresses, numbers or categories.',
      }),
    ),
    email: Type.Optional(
      Type.String({ minLength: 1, maxLength: 320, description: 'Only contacts with exactly this address.' }),
    ),
    source: Type.Optional(Type.Enum(['address_book', 'inbox'], { type: 'string', default: 'address_book' })),
    limit: LIMIT,
    cursor: CURSOR,
  },
  facts: PAGE_FACTS,
  untrusted: { contacts: Type.Array(Type.Object(contactView)) },
  async run({ accountId, query, ...filters }, { api }) {
    const path = apiPath`/accounts/${accountId}/contacts`
    const found = await api.get<List<'contacts', Contact>>(path, { q: query, ...filters })
    const contacts = found.contacts.map(viewContact)
    return {
      summary: pageSummary('contact', contacts.length, found.pagination),
      facts: pageFacts(contacts.length, found.pagination),
      untrusted: { contacts },
    }
  },
})

const getContact = tool({
  name: 'get_contact',
  title: 'Get a contact',
  description: 'Returns one contact with postal addresses, web pages, birthday and the beginning of its notes.',
  access: 'read',
  input: {
    accountId: ACCOUNT,
    contactId: Type.String({ minLength: 1, maxLength: 320, description: 'An id from search_contacts.' }),
  },
  untrusted: { contact: Type.Object({ ...contactView, ...contactDetails }) },
  async run({ accountId, contactId }, { api }) {
    const contact = await api.get<Contact>(apiPath`/accounts/${accountId}/contacts/${contactId}`)
    return {
      summary: 'The contact.',
      untrusted: { contact: { ...viewContact(contact), ...viewContactDetails(contact) } },
    }
  },
})

export const contactTools = [searchContacts, getContact]
