import type { Static } from 'typebox'
import * as Type from 'typebox'
import type { UnreadableItem } from '../accounts/collections/index.ts'
import { providerSchema } from '../events/index.ts'
import { nullable, timestamp } from '../platform/formats/json-schema.ts'
import { isoTime } from '../platform/time/time.ts'
import type { ContactFields, ProviderName, RemoteContact } from '../providers/contract/index.ts'
import type { BookRow, ContactRow, GroupRow } from './store.ts'

const text = (description?: string) => nullable(Type.String(description === undefined ? {} : { description }))
const type = Type.String({
  description: '`work`, `home`, `mobile`, `other` or the word of the provider; may be empty.',
})

const contactLists = {
  emails: Type.Array(Type.Object({ email: Type.String(), type }), { description: 'The preferred one first.' }),
  phoneNumbers: Type.Array(Type.Object({ number: Type.String(), type })),
  physicalAddresses: Type.Array(
    Type.Object({
      type,
      streetAddress: Type.String(),
      city: Type.String(),
      postalCode: Type.String(),
      state: Type.String(),
      country: Type.String(),
    }),
  ),
  webPages: Type.Array(Type.Object({ url: Type.String(), type })),
  imAddresses: Type.Array(
    Type.Object({ imAddress: Type.String(), type: Type.String({ description: 'The service, such as `skype`.' }) }),
  ),
}

/** A contact as the API and events show it. */
export const contactSchema = Type.Object(
  {
    id: Type.String(),
    accountId: Type.String(),
    provider: providerSchema,
    source: Type.Enum(['address_book', 'inbox'], {
      type: 'string',
      description: 'address_book: a contact of the account. inbox: a person with whom it has exchanged messages.',
    }),
    addressBookId: text('Null for `inbox`.'),
    providerContactId: text("The provider's id. Null for `inbox`."),
    displayName: text('As the provider shows the contact.'),
    prefix: text(),
    givenName: text(),
    middleName: text(),
    surname: text(),
    suffix: text(),
    nickname: text(),
    birthday: text('`1985-04-12`, or `--04-12` without the year.'),
    companyName: text(),
    department: text(),
    jobTitle: text(),
    managerName: text(),
    officeLocation: text(),
    notes: text('Plain text, the first 8,192 characters.'),
    ...contactLists,
    groups: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
    photoUrl: text('The path of the photo. Null when there is none; it may be 404 where the provider does not say.'),
    interactions: nullable(
      Type.Object(
        {
          sent: Type.Integer({ description: 'Messages to the person.' }),
          received: Type.Integer({ description: 'Messages from the person.' }),
          lastAt: timestamp('Of the latest of them.'),
        },
        { description: 'Null for `address_book`.' },
      ),
    ),
    version: Type.Integer(),
    createdAt: timestamp('When the service stored it.'),
    updatedAt: timestamp(),
  },
  { title: 'Contact' },
)
export type ContactView = Static<typeof contactSchema>

export const contactGroupSchema = Type.Object(
  {
    id: Type.String(),
    accountId: Type.String(),
    name: Type.String(),
    kind: Type.Enum(['listed', 'object', 'category'], {
      type: 'string',
      description:
        'listed: the provider lists it. object: it is an object of an address book that lists its members. category: a word on its contacts, with which it exists.',
    }),
    memberCount: Type.Integer(),
    writable: Type.Boolean({ description: 'Whether it can be renamed and deleted.' }),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'ContactGroup' },
)

export const addressBookSchema = Type.Object(
  {
    id: Type.String({ description: 'Does not change when the address book is renamed.' }),
    accountId: Type.String(),
    provider: providerSchema,
    providerId: Type.String(),
    name: Type.String(),
    writable: Type.Boolean({ description: 'False: its contacts can only be read.' }),
    default: Type.Boolean({ description: 'Whether contacts are created in it unless a request names another one.' }),
    contacts: Type.Integer({ description: 'How many are stored.' }),
    syncedAt: nullable(
      timestamp('When its contacts were last known to be current. Null until the first sync is complete.'),
    ),
    unreadable: Type.Object(
      {
        count: Type.Integer({ description: 'At most 1,000.' }),
        contacts: Type.Array(Type.Object({ providerContactId: Type.String(), reason: Type.String() }), {
          description: 'The first 10.',
        }),
      },
      { description: 'Contacts that cannot be read, entirely or in part.' },
    ),
    failure: nullable(
      Type.Object(
        {
          reason: Type.String(),
          since: timestamp('Of the first failure in a row.'),
          attempts: Type.Integer(),
          nextAttemptAt: timestamp(),
        },
        { description: 'Why this address book cannot be read at the moment. Null while it can be read.' },
      ),
    ),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'AddressBook' },
)

export interface GroupName {
  id: string
  name: string
}

type ShownContact = Pick<
  ContactRow,
  'id' | 'accountId' | 'bookId' | 'providerId' | 'version' | 'createdAt' | 'updatedAt'
> & { content: RemoteContact }

export function contactView(contact: ShownContact, provider: ProviderName, groups: readonly GroupName[]): ContactView {
  const { id, accountId, content } = contact
  return {
    id,
    accountId,
    provider,
    source: 'address_book',
    addressBookId: contact.bookId,
    providerContactId: contact.providerId,
    displayName: orNull(content.displayName),
    prefix: orNull(content.prefix),
    givenName: orNull(content.givenName),
    middleName: orNull(content.middleName),
    surname: orNull(content.surname),
    suffix: orNull(content.suffix),
    nickname: orNull(content.nickname),
    birthday: content.birthday,
    companyName: orNull(content.companyName),
    department: orNull(content.department),
    jobTitle: orNull(content.jobTitle),
    managerName: orNull(content.managerName),
    officeLocation: orNull(content.officeLocation),
    notes: orNull(content.notes),
    emails: content.emails,
    phoneNumbers: content.phoneNumbers,
    physicalAddresses: content.physicalAddresses,
    webPages: content.webPages,
    imAddresses: content.imAddresses,
    groups: [...groups],
    photoUrl: content.hasPhoto === false ? null : `/accounts/${accountId}/contacts/${id}/photo`,
    interactions: null,
    version: contact.version,
    createdAt: isoTime(contact.createdAt),
    updatedAt: isoTime(content.updatedAt ?? contact.updatedAt),
  }
}

function orNull(value: ContactFields['displayName']): string | null {
  return value === '' ? null : value
}

export function groupView(row: GroupRow, memberCount: number): Static<typeof contactGroupSchema> {
  const { id, accountId, name, kind, isWritable, createdAt, updatedAt } = row
  return {
    id,
    accountId,
    name,
    kind,
    memberCount,
    writable: isWritable === 1,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}

export function bookView(
  row: BookRow,
  provider: ProviderName,
  unreadable: readonly UnreadableItem[] = [],
): Static<typeof addressBookSchema> {
  return {
    id: row.id,
    accountId: row.accountId,
    provider,
    providerId: row.providerId,
    name: row.name,
    writable: row.isWritable === 1,
    default: row.isDefault === 1,
    contacts: row.contacts,
    syncedAt: row.syncedAt === null ? null : isoTime(row.syncedAt),
    unreadable: {
      count: row.unreadable,
      contacts: unreadable.map(({ itemId, reason }) => ({ providerContactId: itemId, reason })),
    },
    failure: toFailure(row),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

function toFailure({ failures, failureReason, failingSince, retryAt }: BookRow) {
  if (failures === 0) return null
  return {
    reason: failureReason ?? '',
    since: isoTime(failingSince ?? 0),
    attempts: failures,
    nextAttemptAt: isoTime(retryAt ?? 0),
  }
}
