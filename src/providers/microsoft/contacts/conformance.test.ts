import { microsoftContactsFixture } from '../../../../test/servers/microsoft-contacts.ts'
import { contactsConformance } from '../../conformance/contacts.ts'

contactsConformance('Microsoft', () => microsoftContactsFixture())
contactsConformance('a tenant at Microsoft', () => microsoftContactsFixture('tenant'))
