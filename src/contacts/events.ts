import { declareEvent, type EventOf, EXAMPLE_ACCOUNT } from '../events/index.ts'
import type { ProviderName } from '../providers/contract/index.ts'
import { type ContactView, contactSchema } from './api.ts'

const LIN: ContactView = {
  id: 'cnt_01k9zy3c5e7g9j2m4p6r8t1v3x',
  accountId: EXAMPLE_ACCOUNT.accountId,
  provider: EXAMPLE_ACCOUNT.provider,
  source: 'address_book',
  addressBookId: 'cbk_01k9zv5d7f9h2k4n6q8s1t3v5x',
  providerContactId: 'people/c4729016537218',
  displayName: 'Lin Moreau',
  prefix: null,
  givenName: 'Lin',
  middleName: null,
  surname: 'Moreau',
  suffix: null,
  nickname: null,
  birthday: '--04-12',
  companyName: 'Northwind',
  department: null,
  jobTitle: 'Buyer',
  managerName: null,
  officeLocation: null,
  notes: null,
  emails: [{ email: 'lin@northwind.example', type: 'work' }],
  phoneNumbers: [{ number: '+33 1 70 18 00 00', type: 'work' }],
  physicalAddresses: [],
  webPages: [],
  imAddresses: [],
  groups: [{ id: 'cgr_01k9zv6e8g1j3m5p7r9t2v4w6y', name: 'Customers' }],
  photoUrl: null,
  interactions: null,
  version: 1,
  createdAt: '2026-11-20T08:20:00.000Z',
  updatedAt: '2026-11-20T08:20:00.000Z',
}

const of = (version: number, changes: Partial<ContactView> = {}) => ({
  ...EXAMPLE_ACCOUNT,
  objectId: LIN.id,
  version,
  data: { ...LIN, version, ...changes },
})

export const contactEvents = {
  'contact.created': declareEvent('A contact was added to an address book.', contactSchema, of(1)),
  'contact.updated': declareEvent(
    'A contact was changed, joined a group or left one.',
    contactSchema,
    of(2, { jobTitle: 'Head of purchasing', updatedAt: '2026-11-20T08:41:12.000Z' }),
  ),
  'contact.deleted': declareEvent(
    'A contact was deleted, or its address book was. `data` holds its last known state.',
    contactSchema,
    of(3, { updatedAt: '2026-11-20T09:05:33.000Z' }),
  ),
}

export type ContactEventType = keyof typeof contactEvents

export function contactEvent(
  type: ContactEventType,
  provider: ProviderName,
  data: ContactView,
): EventOf<typeof contactEvents> {
  return { type, accountId: data.accountId, provider, objectId: data.id, version: data.version, data }
}
