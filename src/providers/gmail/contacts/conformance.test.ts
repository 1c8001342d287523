import { googleContactsFixture } from '../../../../test/servers/google-contacts.ts'
import { contactsConformance } from '../../conformance/contacts.ts'

contactsConformance('Google', () => googleContactsFixture())
contactsConformance('a tenant at Google', () => googleContactsFixture('tenant'))
