import { truncateText } from '../platform/formats/text.ts'
import type { RemoteContact } from '../providers/contract/index.ts'

/** PostgreSQL refuses index entries of more than 2,704 bytes; name and ids take some hundred. */
const MAX_SEARCH_BYTES = 1600
const MAX_WORDS = 20
const MAX_KEY = 320

/** Without case, accents and white space at its ends, as columns that are searched have it. */
export function foldText(text: string): string {
  return firstBytes(foldSpaces(text), MAX_SEARCH_BYTES / 2)
}

/** The same, of any length. */
export function foldSpaces(text: string): string {
  return folded(text).replaceAll(/\s+/g, ' ').trim()
}

/** The text that `q` searches: names, company, position, addresses, numbers and categories, without case and accents. */
export function buildSearchText(contact: RemoteContact): string {
  const texts = [
    contact.displayName,
    contact.givenName,
    contact.middleName,
    contact.surname,
    contact.nickname,
    contact.companyName,
    contact.department,
    contact.jobTitle,
    ...contact.emails.map(({ email }) => email),
    ...contact.phoneNumbers.map(({ number }) => phoneKey(number)),
    ...contact.categories,
  ]
  const words = new Set(texts.flatMap((text) => folded(text).split(/\s+/)))
  words.delete('')
  return firstBytes([...words].join(' '), MAX_SEARCH_BYTES)
}

/** The words of a search, all of which a contact must contain, also within longer words. */
export function searchWords(q: string): string[] {
  return folded(q).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS)
}

/** What the filter `email` compares. */
export function emailKey(email: string): string {
  return truncateText(email.trim().toLowerCase(), MAX_KEY)
}

/** Only the digits: `+46 (0)8 12` and `004608 12` are the same number. */
export function phoneKey(number: string): string {
  return truncateText(number.replaceAll(/\D/g, '').replace(/^00/, ''), MAX_KEY)
}

function folded(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().toWellFormed()
}

function firstBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text
  return new TextDecoder().decode(Buffer.from(text).subarray(0, limit)).replace(/\ufffd$/, '')
}
