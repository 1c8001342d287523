import * as Type from 'typebox'
import type { Contact } from '../../../ui/generated/api-objects.ts'
import { shortText } from '../clean-text.ts'

const MAX_TEXT = 300
const MAX_ADDRESS = 320
const MAX_NOTES = 2000
/** Further addresses and numbers are only counted. */
const MAX_VALUES = 20

/** A contact as lists show it. */
export const contactView = {
  id: Type.String(),
  source: Type.String({
    description: 'address_book: a contact. inbox: a person with whom the account has exchanged messages.',
  }),
  name: Type.Optional(Type.String()),
  company: Type.Optional(Type.String()),
  jobTitle: Type.Optional(Type.String()),
  emails: Type.Array(Type.String()),
  phoneNumbers: Type.Optional(Type.Array(Type.String())),
  groups: Type.Optional(Type.Array(Type.String())),
  interactions: Type.Optional(Type.Object({ sent: Type.Integer(), received: Type.Integer(), lastAt: Type.String() })),
}

/** What `get_contact` returns beside it. */
export const contactDetails = {
  nickname: Type.Optional(Type.String()),
  department: Type.Optional(Type.String()),
  birthday: Type.Optional(Type.String({ description: '1985-04-12, or --04-12 without the year.' })),
  addresses: Type.Optional(Type.Array(Type.String())),
  webPages: Type.Optional(Type.Array(Type.String())),
  notes: Type.Optional(Type.String()),
}

export function viewContact(contact: Contact) {
  const { id, source, displayName, companyName, jobTitle, interactions } = contact
  return {
    id,
    source,
    ...text('name', displayName),
    ...text('company', companyName),
    ...text('jobTitle', jobTitle),
    emails: values(contact.emails.map(({ email, type }) => withType(email, type))),
    ...list(
      'phoneNumbers',
      contact.phoneNumbers.map(({ number, type }) => withType(number, type)),
    ),
    ...list(
      'groups',
      contact.groups.map(({ name }) => name),
    ),
    ...(interactions !== null && { interactions }),
  }
}

export function viewContactDetails(contact: Contact) {
  const { nickname, department, birthday, notes, physicalAddresses, webPages } = contact
  const addresses = physicalAddresses.map(({ type, streetAddress, postalCode, city, state, country }) => {
    const parts = [streetAddress, postalCode, city, state, country].filter((part) => part !== '')
    return withType(parts.join(', '), type)
  })
  return {
    ...text('nickname', nickname),
    ...text('department', department),
    ...text('birthday', birthday),
    ...list('addresses', addresses),
    ...list(
      'webPages',
      webPages.map(({ url }) => url),
    ),
    ...text('notes', notes, MAX_NOTES),
  }
}

function withType(value: string, type: string): string {
  return type === '' ? value : `${value} (${type})`
}

function text<Name extends string>(name: Name, value: string | null, limit = MAX_TEXT): { [key in Name]?: string } {
  return value === null ? {} : ({ [name]: shortText(value, limit) } as { [key in Name]?: string })
}

function list<Name extends string>(name: Name, all: readonly string[]): { [key in Name]?: string[] } {
  return all.length === 0 ? {} : ({ [name]: values(all) } as { [key in Name]?: string[] })
}

function values(all: readonly string[]): string[] {
  const shown = all.slice(0, MAX_VALUES).map((value) => shortText(value, MAX_ADDRESS))
  const others = all.length - shown.length
  return others === 0 ? shown : [...shown, `and ${others} more`]
}
