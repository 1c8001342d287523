import { type Selectable, type SqlBool, sql } from 'kysely'
import { countMatching, type Handle, type Tables } from '../../platform/db/index.ts'
import type { PageRequest } from '../../platform/formats/pagination.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import type { ContactView } from '../api.ts'
import type { ContactPosition } from '../read/list.ts'

type PersonRow = Selectable<Tables['correspondents']>

interface PeopleFilter {
  accountId: string
  /** In lower case. */
  email: string | undefined
  words: readonly string[]
}

/** A page of the people with whom an account has exchanged messages, by name, with one more than the limit when there is one. */
export async function listPeople(
  handle: Handle,
  filter: PeopleFilter,
  { after, offset, limit }: PageRequest<ContactPosition>,
): Promise<{ rows: PersonRow[]; total: { count: number; capped: boolean } }> {
  const rows = await matching(handle, filter)
    .selectAll()
    .$if(after !== undefined, (query) =>
      query.where(sql<SqlBool>`("sortName", "id") > (${after?.[0] ?? ''}, ${after?.[1] ?? ''})`),
    )
    .orderBy('sortName')
    .orderBy('id')
    .limit(limit + 1)
    .offset(offset)
    .execute()
  return { rows, total: await countMatching(handle, matching(handle, filter).select('id')) }
}

function matching(handle: Handle, { accountId, email, words }: PeopleFilter) {
  let query = handle.selectFrom('correspondents').where('accountId', '=', accountId)
  if (email !== undefined) query = query.where('email', '=', email)
  for (const word of words) {
    const pattern = `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`
    query = query.where(sql<SqlBool>`"searchText" like ${pattern} escape '\\'`)
  }
  return query
}

export async function findPerson(handle: Handle, accountId: string, id: string): Promise<PersonRow | undefined> {
  return handle
    .selectFrom('correspondents')
    .selectAll()
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .executeTakeFirst()
}

export function personView(row: PersonRow, provider: ProviderName): ContactView {
  const { id, accountId, email, displayName, sent, received, lastAt, createdAt, updatedAt } = row
  return {
    id,
    accountId,
    provider,
    source: 'inbox',
    addressBookId: null,
    providerContactId: null,
    displayName: displayName === '' ? null : displayName,
    prefix: null,
    givenName: null,
    middleName: null,
    surname: null,
    suffix: null,
    nickname: null,
    birthday: null,
    companyName: null,
    department: null,
    jobTitle: null,
    managerName: null,
    officeLocation: null,
    notes: null,
    emails: [{ email, type: '' }],
    phoneNumbers: [],
    physicalAddresses: [],
    webPages: [],
    imAddresses: [],
    groups: [],
    photoUrl: null,
    interactions: { sent, received, lastAt: isoTime(lastAt) },
    version: sent + received,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}
