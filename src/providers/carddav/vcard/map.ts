import {
  boundedContact,
  boundedGroup,
  type ContactFields,
  type RemoteContact,
  type RemoteContactGroup,
} from '../../contract/index.ts'
import { readBirthday } from './birthday.ts'
import { type Card, type CardLine, type CardProblem, lineNamed, linesNamed, parseCard } from './card.ts'
import { IM_NAMES, readImAddress } from './im-addresses.ts'
import { isPreferred, readLabels, typeOf } from './types.ts'
import { decodedValue, listAsText, parts, rawParts, textValue } from './values.ts'

/** An object of an address book. */
export interface CardObject {
  path: string
  etag: string | null
  text: string
}

type MappedCard = { contact: RemoteContact } | { group: RemoteContactGroup } | { unreadable: string }

/** What programs call these two, which vCard does not have. */
export const MANAGER_NAMES = ['X-MANAGER', 'X-EVOLUTION-MANAGER', 'X-KADDRESSBOOK-X-MANAGERSNAME', 'X-MS-MANAGER']
export const OFFICE_NAMES = ['X-EVOLUTION-OFFICE', 'X-KADDRESSBOOK-X-OFFICE', 'X-OFFICE']
const PROBLEMS: Readonly<Record<CardProblem, string>> = {
  no_card: 'It is not a vCard.',
  too_long: 'The vCard is larger than 1 MB without its photos.',
  too_many_lines: 'The vCard has more than 20,000 lines.',
}

/** Maps a vCard of any version. What makes no sense is left out; a card without a name has that of its company or address. */
export function mapCard({ path, etag, text }: CardObject): MappedCard {
  const card = parseCard(text, { files: 'skip' })
  if ('problem' in card) return { unreadable: PROBLEMS[card.problem] }
  const uid = readUid(card) || path
  if (isGroup(card)) return { group: boundedGroup({ ...readGroup(card), groupId: path }) }
  const fields = readFields(card)
  return {
    contact: boundedContact({
      ...fields,
      contactId: path,
      uid,
      etag,
      groupIds: [],
      hasPhoto: hasPhoto(card),
      updatedAt: readRevision(card),
    }),
  }
}

/** The UID, without the scheme that some programs write before it. */
export function readUid(card: Card): string {
  return stripUrn(lineNamed(card, ['UID'])?.value ?? '')
}

function stripUrn(text: string): string {
  return text.trim().replace(/^urn:uuid:/i, '')
}

export function isGroup(card: Card): boolean {
  return linesNamed(card, ['KIND', 'X-ADDRESSBOOKSERVER-KIND']).some(
    ({ line }) => line.value.trim().toLowerCase() === 'group',
  )
}

export const MEMBER_NAMES = ['MEMBER', 'X-ADDRESSBOOKSERVER-MEMBER']
const MAX_MEMBERS = 10_000

function readGroup(card: Card): Omit<RemoteContactGroup, 'groupId'> {
  const name = lineNamed(card, ['FN']) ?? lineNamed(card, ['N'])
  const members = linesNamed(card, MEMBER_NAMES, MAX_MEMBERS).map(({ line }) => stripUrn(line.value))
  return { name: name === undefined ? '' : textValue(name).replaceAll(';', ' '), isWritable: false, members }
}

export function readFields(card: Card): ContactFields {
  const labels = readLabels(card)
  const text = (...names: string[]) => {
    const line = lineNamed(card, names)
    return line === undefined ? '' : textValue(line)
  }
  const each = <Value>(names: readonly string[], read: (line: CardLine) => Value): Value[] =>
    linesNamed(card, names, MAX_VALUES).map(({ line }) => read(line))
  const name = lineNamed(card, ['N'])
  const [surname, givenName, middleName, prefix, suffix] =
    name === undefined ? [] : rawParts(decodedValue(name)).map(listAsText)
  const organisation = lineNamed(card, ['ORG'])
  const [companyName = '', department = ''] = organisation === undefined ? [] : parts(organisation, ';')
  const birthday = lineNamed(card, ['BDAY'])
  const emails = linesNamed(card, ['EMAIL'], MAX_VALUES)
    .map(({ line }) => line)
    .toSorted((one, other) => Number(isPreferred(other)) - Number(isPreferred(one)))
    .map((line) => ({
      email: textValue(line)
        .trim()
        .replace(/^mailto:/i, ''),
      type: typeOf(line, labels),
    }))
  const nickname = lineNamed(card, ['NICKNAME'])
  const fields: ContactFields = {
    displayName: text('FN'),
    prefix: prefix ?? '',
    givenName: givenName ?? '',
    middleName: middleName ?? '',
    surname: surname ?? '',
    suffix: suffix ?? '',
    nickname: nickname === undefined ? '' : parts(nickname, ',').join(', '),
    birthday: birthday === undefined ? null : readBirthday(birthday),
    companyName,
    department,
    jobTitle: text('TITLE'),
    managerName: text(...MANAGER_NAMES),
    officeLocation: text(...OFFICE_NAMES),
    notes: text('NOTE'),
    emails,
    phoneNumbers: each(['TEL'], (line) => ({
      number: textValue(line).trim().replace(/^tel:/i, ''),
      type: typeOf(line, labels),
    })),
    physicalAddresses: each(['ADR'], (line) => readAddress(line, typeOf(line, labels))),
    webPages: each(['URL'], (line) => ({ url: textValue(line).trim(), type: typeOf(line, labels) })),
    imAddresses: each(IM_NAMES, readImAddress),
    categories: each(['CATEGORIES'], (line) => parts(line, ',')).flat(),
  }
  return { ...fields, displayName: fields.displayName.trim() || nameFrom(fields) }
}

const MAX_VALUES = 200

/** The name that programs show for a contact without one. */
export function nameFrom(fields: ContactFields): string {
  const { prefix, givenName, middleName, surname, suffix } = fields
  const words = [prefix, givenName, middleName, surname, suffix]
    .map((word) => word.trim())
    .filter((word) => word !== '')
  const others = [fields.nickname, fields.companyName, fields.emails[0]?.email, fields.phoneNumbers[0]?.number]
  return words.join(' ') || (others.find((text) => text !== undefined && text !== '') ?? '')
}

/** Box and extension are lines of the street. */
function readAddress(line: CardLine, type: string) {
  const [box = '', extended = '', street = '', city = '', state = '', postalCode = '', country = ''] = parts(line, ';')
  const streetAddress = [street, extended, box].filter((text) => text.trim() !== '').join('\n')
  return { type, streetAddress, city, postalCode, state, country }
}

/** A photo of a web address counts where it is one of the web. */
function hasPhoto(card: Card): boolean {
  const line = lineNamed(card, ['PHOTO'])
  return line !== undefined && line.value.trim() !== ''
}

function readRevision(card: Card): number | null {
  const value = lineNamed(card, ['REV'])?.value.trim() ?? ''
  const [, day = '', time = '000000'] = /^(\d{8})(?:T(\d{6}))?/.exec(value.replaceAll(/[-:]/g, '')) ?? []
  const iso = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}Z`
  const ms = Date.parse(iso)
  return Number.isNaN(ms) ? null : ms
}
