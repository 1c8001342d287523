import { parameterValue, textLine } from '../../../platform/calendar/formatting.ts'
import type { ContactAddress, ContactFields } from '../../contract/index.ts'
import { birthdayLine } from './birthday.ts'
import { type Card, type CardLine, lineNamed, linesNamed } from './card.ts'
import { IM_NAMES, readImAddress } from './im-addresses.ts'
import { MANAGER_NAMES, nameFrom, OFFICE_NAMES, readFields } from './map.ts'
import { wordsFor } from './types.ts'
import { escapeText, parts, rawParts, textValue } from './values.ts'
import { type ListProperty, replaceList } from './write-list.ts'

type NameField = 'surname' | 'givenName' | 'middleName' | 'prefix' | 'suffix'

/** In the order of N. */
const NAME_FIELDS: readonly NameField[] = ['surname', 'givenName', 'middleName', 'prefix', 'suffix']
const TEXTS: readonly (readonly [field: keyof ContactFields, names: readonly string[]])[] = [
  ['jobTitle', ['TITLE']],
  ['notes', ['NOTE']],
  ['managerName', ['X-EVOLUTION-MANAGER', ...MANAGER_NAMES]],
  ['officeLocation', OFFICE_NAMES],
]

/** Applies changes to a card. Lines that no change concerns stay as they are, also those that this code does not know. */
export function applyFields(card: Card, changes: Partial<ContactFields>): void {
  const before = readFields(card)
  const version = lineNamed(card, ['VERSION'])?.value.trim() ?? '3.0'
  applyName(card, before, changes)
  applyCompany(card, changes)
  for (const [field, names] of TEXTS) {
    const text = changes[field]
    if (typeof text === 'string' && text !== before[field]) replaceText(card, names, text)
  }
  const { nickname, birthday, categories } = changes
  if (nickname !== undefined && nickname !== before.nickname) replaceText(card, ['NICKNAME'], nickname)
  if (birthday !== undefined && birthday !== before.birthday) {
    replaceLines(card, ['BDAY'], birthday === null ? [] : [birthdayLine(birthday, version)])
  }
  if (categories !== undefined && String(categories) !== String(before.categories)) {
    replaceLines(
      card,
      ['CATEGORIES'],
      categories.length === 0 ? [] : [`CATEGORIES:${categories.map(escapeText).join(',')}`],
    )
  }
  applyLists(card, changes, version)
}

/** Records that the card changed. */
export function touch(card: Card, nowMs: number): void {
  const now = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  replaceLines(card, ['REV'], [`REV:${now}`])
}

/** FN is required: it follows the name as long as nobody has chosen another one. */
function applyName(card: Card, before: ContactFields, changes: Partial<ContactFields>): void {
  const isNamed = NAME_FIELDS.some((field) => changes[field] !== undefined && changes[field] !== before[field])
  const line = lineNamed(card, ['N'])
  if (isNamed || line === undefined) {
    const stored = line === undefined ? [] : rawParts(line.value)
    const values = NAME_FIELDS.map((field, at) => {
      const text = changes[field]
      return text === undefined || text === before[field] ? (stored[at] ?? '') : escapeText(text)
    })
    replaceLines(card, ['N'], [`N:${values.join(';')}`])
  }
  const after = { ...before, ...changes }
  const hasOwnName = before.displayName !== '' && before.displayName !== nameFrom(before)
  const displayName = changes.displayName ?? (hasOwnName ? before.displayName : nameFrom(after))
  const shown = displayName === '' ? nameFrom(after) : displayName
  if (shown !== before.displayName || lineNamed(card, ['FN']) === undefined) replaceText(card, ['FN'], shown, true)
}

/** Further parts of ORG, such as teams, stay. */
function applyCompany(card: Card, { companyName, department }: Partial<ContactFields>): void {
  const line = lineNamed(card, ['ORG'])
  const [company = '', unit = '', ...others] = line === undefined ? [] : parts(line, ';')
  if ((companyName ?? company) === company && (department ?? unit) === unit) return
  const values = [companyName ?? company, department ?? unit, ...others]
  while (values.at(-1) === '') values.pop()
  replaceLines(card, ['ORG'], values.length === 0 ? [] : [`ORG:${values.map(escapeText).join(';')}`])
}

function applyLists(card: Card, changes: Partial<ContactFields>, version: string): void {
  const { emails, phoneNumbers, physicalAddresses, webPages, imAddresses } = changes
  const typed = (words: readonly string[]) => {
    const plain = words.filter((word) => word !== '').map(parameterValue)
    return plain.length === 0 ? '' : `;TYPE=${plain.join(',')}`
  }
  const email: ListProperty = {
    names: ['EMAIL'],
    value: (line) =>
      textValue(line)
        .trim()
        .replace(/^mailto:/i, ''),
    line: (text, type) =>
      `EMAIL${typed([...(version.startsWith('4') ? [] : ['internet']), ...wordsFor(type)])}:${escapeText(text)}`,
  }
  const phone: ListProperty = {
    names: ['TEL'],
    value: (line) => textValue(line).trim().replace(/^tel:/i, ''),
    line: (text, type) => `TEL${typed(wordsFor(type))}:${escapeText(text)}`,
  }
  const page: ListProperty = {
    names: ['URL'],
    value: (line) => textValue(line).trim(),
    line: (text, type) => `URL${typed(wordsFor(type))}:${escapeText(text)}`,
  }
  const address: ListProperty = {
    names: ['ADR'],
    value: (line) => addressValue(readAddressParts(line)),
    line: (text, type) => `ADR${typed(wordsFor(type))}:${text}`,
  }
  if (emails !== undefined) {
    replaceList(
      card,
      email,
      emails.map(({ email: value, type }) => ({ value, type })),
    )
  }
  if (phoneNumbers !== undefined) {
    replaceList(
      card,
      phone,
      phoneNumbers.map(({ number, type }) => ({ value: number, type })),
    )
  }
  if (webPages !== undefined) {
    replaceList(
      card,
      page,
      webPages.map(({ url, type }) => ({ value: url, type })),
    )
  }
  if (physicalAddresses !== undefined) {
    replaceList(
      card,
      address,
      physicalAddresses.map((each) => ({ value: addressValue(each), type: each.type })),
    )
  }
  if (imAddresses !== undefined) replaceImAddresses(card, imAddresses)
}

function readAddressParts(line: CardLine): Omit<ContactAddress, 'type'> {
  const [box = '', extended = '', street = '', city = '', state = '', postalCode = '', country = ''] = parts(line, ';')
  const streetAddress = [street, extended, box].filter((text) => text.trim() !== '').join('\n')
  return { streetAddress, city, state, postalCode, country }
}

/** As it is written. */
function addressValue({ streetAddress, city, state, postalCode, country }: Omit<ContactAddress, 'type'>): string {
  return ['', '', streetAddress, city, state, postalCode, country].map(escapeText).join(';')
}

function replaceImAddresses(card: Card, wanted: ContactFields['imAddresses']): void {
  const left = linesNamed(card, IM_NAMES).map(({ line, index }) => ({
    text: card.lines[index] ?? '',
    key: JSON.stringify(imKey(readImAddress(line))),
  }))
  const lines = wanted.map(({ imAddress, type }) => {
    const at = left.findIndex(({ key }) => key === JSON.stringify(imKey({ imAddress, type })))
    const [kept] = at === -1 ? [] : left.splice(at, 1)
    const scheme = /^[a-z][a-z0-9+.-]*$/.test(type) ? type : 'x-im'
    return kept?.text ?? `IMPP;X-SERVICE-TYPE=${parameterValue(type || 'other')}:${scheme}:${escapeText(imAddress)}`
  })
  replaceLines(card, IM_NAMES, lines)
}

function imKey({ imAddress, type }: { imAddress: string; type: string }): string[] {
  return [imAddress, type.toLowerCase()]
}

/** An empty text removes the property. */
function replaceText(card: Card, names: readonly string[], text: string, isRequired = false): void {
  const [name = ''] = linesNamed(card, names, 1).map(({ line }) => line.name)
  replaceLines(card, names, text === '' && !isRequired ? [] : [textLine(name || (names[0] ?? ''), text)])
}

/** Puts the lines in the place of the first of those with the names. */
function replaceLines(card: Card, names: readonly string[], lines: readonly string[]): void {
  const replaced = new Set(linesNamed(card, names).map(({ index }) => index))
  const [first] = replaced
  const kept = card.lines.flatMap((text, index) => {
    if (index === first) return lines
    return replaced.has(index) ? [] : [text]
  })
  card.lines = first === undefined ? [...card.lines, ...lines] : kept
}
