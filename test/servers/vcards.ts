import type { ContactFields } from '../../src/providers/contract/index.ts'

/** A vCard as another program writes it. Shares no code with the service. */
export function vcard(uid: string, fields: Partial<ContactFields>, lines: readonly string[] = []): string {
  const {
    displayName = '',
    surname = '',
    givenName = '',
    middleName = '',
    prefix = '',
    suffix = '',
    emails = [],
    phoneNumbers = [],
    physicalAddresses = [],
    categories = [],
  } = fields
  const optional: [string, string | null | undefined][] = [
    ['NICKNAME', fields.nickname],
    ['BDAY', fields.birthday],
    ['TITLE', fields.jobTitle],
    ['NOTE', fields.notes],
    ['ORG', fields.companyName],
  ]
  const content = [
    'VERSION:3.0',
    `UID:${uid}`,
    `N:${[surname, givenName, middleName, prefix, suffix].map(escaped).join(';')}`,
    `FN:${escaped(displayName)}`,
    ...optional.flatMap(([name, text]) => (text ? [`${name}:${escaped(text)}`] : [])),
    ...emails.map(({ email, type }) => `EMAIL;TYPE=INTERNET;TYPE=${type.toUpperCase()}:${email}`),
    ...phoneNumbers.map(({ number, type }) => `TEL;TYPE=${type === 'mobile' ? 'CELL' : type}:${number}`),
    ...physicalAddresses.map(({ type, streetAddress, city, state, postalCode, country }) => {
      const parts = ['', '', streetAddress, city, state, postalCode, country]
      return `ADR;TYPE=${type}:${parts.map(escaped).join(';')}`
    }),
    ...(categories.length === 0 ? [] : [`CATEGORIES:${categories.map(escaped).join(',')}`]),
    ...lines,
  ]
  return ['BEGIN:VCARD', ...content, 'END:VCARD', ''].join('\r\n')
}

const escaped = (text: string) => text.replaceAll(/[\\,;]/g, '\\$&').replaceAll('\n', '\\n')
