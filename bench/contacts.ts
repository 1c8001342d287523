import { createHash } from 'node:crypto'
import type { DAVClient } from 'tsdav'
import type { Radicale } from '../test/servers/radicale.ts'
import { type BenchContact, benchContacts, buildCard } from './contact-cards.ts'
import { addSample, benchCollection, type Read, type Samples, USER } from './dav-collection.ts'

const CONTACTS = Number(process.env.BENCH_ROWS ?? 10_000)
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 200)
const LIMIT = 50

/** Sent for one contact after the other; those with a limit are what the figures are judged by. */
interface List {
  name: string
  params(contact: BenchContact, groupId: string): Record<string, string>
  isLimited?: boolean
  /** Pages after the first. */
  pages?: number
}

const LISTS: readonly List[] = [
  { name: 'first pages', params: () => ({}), isLimited: true, pages: 3 },
  { name: 'pages of an offset', params: ({ n }) => ({ page: String(1 + Math.floor(n / LIMIT)) }), isLimited: true },
  { name: 'of an address', params: ({ email }) => ({ email }), isLimited: true },
  { name: 'of a number', params: ({ phone }) => ({ phone }), isLimited: true },
  { name: 'of a group', params: (_, group) => ({ group }), isLimited: true, pages: 1 },
  { name: 'with a word', params: ({ surname }) => ({ q: surname }), isLimited: true },
  { name: 'with two words, found once', params: ({ givenName, n }) => ({ q: `${givenName} p${n}@` }), isLimited: true },
]

/**
 * The first sync of an address book from a real Radicale, beside bare tsdav fetching the same vCards, and lists over HTTP. Every contact
 * is compared with the expected ones.
 */
export async function contacts(say: (line: string) => void): Promise<void> {
  const expected = benchContacts(CONTACTS)
  const collection = {
    title: `${CONTACTS.toLocaleString('en')} contacts`,
    table: 'contactBooks',
    env: { CONTACTS_ENABLED: 'true' },
    accountType: 'carddav',
    maxRatio: 2,
    lists: LISTS,
    fill: async (radicale: Radicale) =>
      radicale.storeObjects(await radicale.makeBook(USER, 'people'), expected.map(buildCard)),
    fetchAll,
    readLists: (read: Read, accountId: string) => measureLists(read, accountId, expected),
  } as const
  await benchCollection(collection, say)
}

async function fetchAll(dav: DAVClient): Promise<void> {
  const [found] = await dav.fetchAddressBooks()
  if (found === undefined) throw new Error('tsdav found no address book.')
  const cards = await dav.fetchVCards({ addressBook: found })
  const complete = cards.filter(({ data }) => String(data).includes('BEGIN:VCARD'))
  if (complete.length !== CONTACTS) throw new Error(`tsdav fetched ${complete.length} vCards instead of ${CONTACTS}.`)
}

async function measureLists(read: Read, accountId: string, expected: readonly BenchContact[]): Promise<Samples> {
  const path = `/accounts/${accountId}/contacts`
  await checkContacts((cursor) => read<ListBody>(`${path}?limit=200${cursor}`), expected)
  const { body } = await read<{ groups: { id: string }[] }>(`/accounts/${accountId}/contact-groups`)
  const groupIds = body.groups.map(({ id }) => id)
  const samples: Samples = new Map()
  for (let n = 0; n < REQUESTS; n += 1) {
    const contact = expected[(n * 37) % expected.length]
    if (contact === undefined) throw new Error('There are no contacts.')
    for (const { name, params, pages = 0 } of LISTS) {
      const query = new URLSearchParams({ ...params(contact, groupIds[n % groupIds.length] ?? ''), limit: `${LIMIT}` })
      for (let page = 0, cursor = ''; page <= pages; page += 1) {
        const { body, tookMs } = await read<ListBody>(`${path}?${query}${cursor}`)
        if (body.contacts.length === 0) throw new Error(`The list ${name} is empty: ${query}`)
        addSample(samples, name, tookMs)
        if (body.pagination.nextCursor === undefined) break
        cursor = `&cursor=${body.pagination.nextCursor}`
      }
    }
  }
  return samples
}

/** Pages through all contacts once, which also warms the caches a little. */
async function checkContacts(
  read: (cursor: string) => Promise<{ body: ListBody }>,
  expected: readonly BenchContact[],
): Promise<void> {
  const found: string[] = []
  for (let cursor = ''; ; ) {
    const { contacts, pagination, syncedAt } = (await read(cursor)).body
    if (pagination.total !== expected.length) throw new Error(`The total is ${pagination.total}.`)
    if (syncedAt === null) throw new Error('The list is not complete.')
    found.push(...contacts.map(describe))
    if (pagination.nextCursor === undefined) break
    cursor = `&cursor=${pagination.nextCursor}`
  }
  const wanted = expected.map(({ displayName, email, phone, categories }) =>
    describe({
      displayName,
      emails: [{ email }],
      phoneNumbers: [{ number: phone }],
      groups: categories.map((name) => ({ name })),
    }),
  )
  if (hash(found) !== hash(wanted)) throw new Error('The contacts are not those of the address book.')
}

function describe({ displayName, emails, phoneNumbers, groups }: Shown): string {
  const names = groups.map(({ name }) => name).sort()
  return `${displayName} ${emails[0]?.email} ${phoneNumbers[0]?.number} ${names}`
}

function hash(lines: readonly string[]): string {
  return createHash('sha256').update(lines.toSorted().join('\n')).digest('hex')
}

interface Shown {
  displayName: string
  emails: { email: string }[]
  phoneNumbers: { number: string }[]
  groups: { name: string }[]
}

interface ListBody {
  contacts: Shown[]
  pagination: { total: number; nextCursor?: string }
  syncedAt: string | null
}
