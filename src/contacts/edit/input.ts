import type { Static } from 'typebox'
import * as Type from 'typebox'
import type { ErrorDetail } from '../../platform/errors/app-error.ts'
import { documented } from '../../platform/formats/json-schema.ts'
import { type ContactFields, isBirthday } from '../../providers/contract/index.ts'

const line = (description?: string) =>
  Type.Optional(
    Type.Union([Type.String({ maxLength: 1024 }), Type.Null()], description === undefined ? {} : { description }),
  )
const list = <Schema extends Parameters<typeof Type.Array>[0]>(schema: Schema) =>
  Type.Optional(Type.Array(schema, { maxItems: 100 }))
const type = Type.Optional(
  Type.String({ maxLength: 64, description: '`work`, `home`, `mobile`, `other` or another word.' }),
)
const word = Type.Optional(Type.String({ maxLength: 1024 }))

const fields = {
  displayName: line('Default: made of the names.'),
  prefix: line(),
  givenName: line(),
  middleName: line(),
  surname: line(),
  suffix: line(),
  nickname: line(),
  birthday: line('`1985-04-12`, or `--04-12` without the year.'),
  companyName: line(),
  department: line(),
  jobTitle: line(),
  managerName: line(),
  officeLocation: line(),
  notes: Type.Optional(Type.Union([Type.String({ maxLength: 8192 }), Type.Null()], { description: 'Plain text.' })),
  emails: list(Type.Object({ email: Type.String({ minLength: 1, maxLength: 320 }), type })),
  phoneNumbers: list(Type.Object({ number: Type.String({ minLength: 1, maxLength: 200 }), type })),
  physicalAddresses: list(
    Type.Object({ type, streetAddress: word, city: word, postalCode: word, state: word, country: word }),
  ),
  webPages: list(Type.Object({ url: Type.String({ maxLength: 1024, pattern: '^https?://' }), type })),
  imAddresses: list(Type.Object({ imAddress: Type.String({ minLength: 1, maxLength: 1024 }), type })),
  groups: Type.Optional(
    Type.Array(
      Type.Object({ id: Type.Optional(Type.String()), name: Type.Optional(Type.String({ maxLength: 200 })) }),
      {
        maxItems: 100,
        description:
          'All groups of the contact, each by its id. A `name` in place of the id adds a category, where contacts name their groups.',
      },
    ),
  ),
}

export const createContactBody = Type.Object(
  {
    addressBookId: Type.Optional(
      Type.String({ description: "Our id or the provider's. Default: the default address book." }),
    ),
    ...fields,
  },
  // Which of them must be given, the handler says.
  documented({ minProperties: 1 }),
)
export const updateContactBody = Type.Object(fields)

export type ContactBody = Static<typeof updateContactBody>

const TEXTS = [
  ...(['displayName', 'prefix', 'givenName', 'middleName', 'surname', 'suffix', 'nickname'] as const),
  ...(['companyName', 'department', 'jobTitle', 'managerName', 'officeLocation', 'notes'] as const),
] as const

/** The members that a body has. Null empties a field. Adds what is invalid to `errors`. */
export function parseContactInput(body: ContactBody, errors: ErrorDetail[]): Partial<ContactFields> {
  const changes: Partial<ContactFields> = {}
  for (const name of TEXTS) {
    const text = body[name]
    if (text !== undefined) changes[name] = text?.trim() ?? ''
  }
  const { birthday, emails, phoneNumbers, physicalAddresses, webPages, imAddresses } = body
  if (birthday !== undefined) {
    if (birthday !== null && !isBirthday(birthday)) {
      errors.push({ path: 'body.birthday', message: 'must be a day such as 1985-04-12, or --04-12 without the year' })
    }
    changes.birthday = birthday
  }
  if (emails !== undefined) changes.emails = emails.map(({ email, type = '' }) => ({ email: email.trim(), type }))
  if (phoneNumbers !== undefined) {
    changes.phoneNumbers = phoneNumbers.map(({ number, type = '' }) => ({ number: number.trim(), type }))
  }
  if (physicalAddresses !== undefined) {
    changes.physicalAddresses = physicalAddresses.map(
      ({ type = '', streetAddress = '', city = '', postalCode = '', state = '', country = '' }) => {
        return { type, streetAddress, city, postalCode, state, country }
      },
    )
  }
  if (webPages !== undefined) changes.webPages = webPages.map(({ url, type = '' }) => ({ url, type }))
  if (imAddresses !== undefined) {
    changes.imAddresses = imAddresses.map(({ imAddress, type = '' }) => ({ imAddress, type }))
  }
  return changes
}

/** A new contact without these fields. */
export const EMPTY_CONTACT: ContactFields = {
  displayName: '',
  prefix: '',
  givenName: '',
  middleName: '',
  surname: '',
  suffix: '',
  nickname: '',
  birthday: null,
  companyName: '',
  department: '',
  jobTitle: '',
  managerName: '',
  officeLocation: '',
  notes: '',
  emails: [],
  phoneNumbers: [],
  physicalAddresses: [],
  webPages: [],
  imAddresses: [],
  categories: [],
}
