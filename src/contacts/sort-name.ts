import { truncateText } from '../platform/formats/text.ts'
import type { RemoteContact } from '../providers/contract/index.ts'
import { foldSpaces } from './search-text.ts'

const MAX_CHARACTERS = 100

/** What orders contacts: the surname, then the other names. Stored with the contact. */
export function buildSortName({ surname, givenName, middleName, displayName }: RemoteContact): string {
  const name = surname === '' && givenName === '' ? displayName : `${surname} ${givenName} ${middleName}`
  return truncateText(foldSpaces(name), MAX_CHARACTERS)
}
