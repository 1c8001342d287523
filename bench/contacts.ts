import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAVClient } from 'tsdav'
import { Client } from 'undici'
import { openDatabase } from '../test/kit/database/open-database.ts'
import { administer } from '../test/kit/database/postgres-server.ts'
import { eventually } from '../test/kit/eventually.ts'
import { type ServiceProcess, startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { PASSWORD } from '../test/scenarios/mailboxes.ts'
import { type Dovecot, startDovecot } from '../test/servers/dovecot.ts'
import { type Radicale, startRadicale } from '../test/servers/radicale.ts'
import { type BenchContact, benchContacts, buildCard } from './contact-cards.ts'
import { cpuMs, median, percentile } from './figures.ts'
import { slowStatements } from './new-mail.ts'
import { onEachStore, type Place } from './stores.ts'

const CONTACTS = Number(process.env.BENCH_ROWS ?? 10_000)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 200)
const LIMIT = 50
const MAX_P95_MS = 20
const MAX_RATIO = 2
const USER = 'bench@mail.example'

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

interface Round {
  bareMs: number
  syncMs: number
  /** CPU time of the service, without the database's. */
  cpuMs: number
  /** By name: of each request in ms. */
  lists: Map<string, number[]>
  slow: number
}

/**
 * The first sync of an address book from a real Radicale, beside bare tsdav fetching the same vCards, and lists over HTTP. Every contact
 * is compared with the expected ones.
 */
export async function contacts(say: (line: string) => void): Promise<void> {
  const [mailServer, radicale] = await Promise.all([startDovecot(), startRadicale()])
  const rounds = new Map<string, Round[]>()
  try {
    await mailServer.addUser(USER, PASSWORD)
    await radicale.addUser(USER, PASSWORD)
    const expected = benchContacts(CONTACTS)
    await radicale.storeObjects(await radicale.makeBook(USER, 'people'), expected.map(buildCard))
    // Radicale parses every object once.
    await bareFetch(radicale)
    for (let round = 0; round < ROUNDS; round += 1) {
      await onEachStore(say, async (title, place) => {
        const bareMs = await bareFetch(radicale)
        const measured = { bareMs, ...(await measure(place, mailServer, radicale, expected)) }
        rounds.set(title, [...(rounds.get(title) ?? []), measured])
      })
    }
  } finally {
    await mailServer.stop()
    await radicale.stop()
  }
  for (const [title, ofStore] of rounds) report(title, ofStore, say)
}

function report(title: string, rounds: readonly Round[], say: (line: string) => void): void {
  const seconds = (of: (round: Round) => number) => (median(rounds.map(of)) / 1000).toFixed(2).padStart(6)
  const ratio = median(rounds.map(({ syncMs, bareMs }) => syncMs / bareMs))
  say(`${title}, ${CONTACTS.toLocaleString('en')} contacts; medians of ${rounds.length} rounds`)
  say(
    `  first sync ${seconds(({ syncMs }) => syncMs)} s, bare tsdav ${seconds(({ bareMs }) => bareMs)} s: ${ratio.toFixed(2)} × bare (limit ${MAX_RATIO}), CPU of the service ${seconds((round) => round.cpuMs)} s`,
  )
  for (const { name, isLimited } of LISTS) {
    const of = (p: number) =>
      median(rounds.map(({ lists }) => percentile(lists.get(name) ?? [], p)))
        .toFixed(1)
        .padStart(6)
    say(
      `  ${name.padEnd(27)} p50 ${of(0.5)} · p95 ${of(0.95)} · max ${of(1)} ms${isLimited ? ` (limit of p95: ${MAX_P95_MS})` : ''}`,
    )
  }
  say(`  slow statements (over 20 ms) ${median(rounds.map(({ slow }) => slow))}`)
}

/** Reads every vCard, as the first sync does. */
async function bareFetch(radicale: Radicale): Promise<number> {
  const startMs = performance.now()
  const dav = new DAVClient({
    serverUrl: radicale.url,
    credentials: { username: USER, password: PASSWORD },
    authMethod: 'Basic',
    defaultAccountType: 'carddav',
  })
  await dav.login()
  const [found] = await dav.fetchAddressBooks()
  if (found === undefined) throw new Error('tsdav found no address book.')
  const cards = await dav.fetchVCards({ addressBook: found })
  const tookMs = performance.now() - startMs
  const complete = cards.filter(({ data }) => String(data).includes('BEGIN:VCARD'))
  if (complete.length !== CONTACTS) throw new Error(`tsdav fetched ${complete.length} vCards instead of ${CONTACTS}.`)
  return tookMs
}

async function measure(
  place: Place,
  mailServer: Dovecot,
  radicale: Radicale,
  expected: readonly BenchContact[],
): Promise<Omit<Round, 'bareMs'>> {
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info', CONTACTS_ENABLED: 'true' } })
  const db = openDatabase(place)
  try {
    await warmedUp(service.pid)
    const [startMs, startCpuMs] = [performance.now(), await cpuMs(service.pid)]
    const account = await client(service.url, service.key).call<{ id: string }>('POST', '/accounts', {
      provider: 'imap',
      email: USER,
      username: USER,
      password: PASSWORD,
      caldavUrl: radicale.url,
      host: mailServer.host,
      port: mailServer.imapsPort,
      secure: true,
      allowSelfSigned: true,
    })
    await eventually(
      async () => {
        const rows = await db.read.selectFrom('contactBooks').select('syncedAt').execute()
        if (rows.length === 0 || rows.some(({ syncedAt }) => syncedAt === null)) throw new Error('not synced yet')
      },
      600_000,
      20,
    )
    const [syncMs, usedCpuMs] = [performance.now() - startMs, (await cpuMs(service.pid)) - startCpuMs]
    // Autovacuum does this in operation; the test server has none.
    if (place.databaseUrl !== undefined) await administer(place.databaseUrl, 'vacuum analyze')
    const slowBefore = slowStatements(service.output())
    const lists = await readLists(service, account.id, expected)
    return { syncMs, cpuMs: usedCpuMs, lists, slow: slowStatements(service.output()) - slowBefore }
  } finally {
    await db.close()
    await service.stop()
  }
}

/** A service prepares for its first requests after its start; this bench measures one that runs. */
async function warmedUp(pid: number): Promise<void> {
  for (let before = -1, now = await cpuMs(pid); now - before > MAX_IDLE_MS; ) {
    await sleep(IDLE_EVERY_MS)
    before = now
    now = await cpuMs(pid)
  }
}

const IDLE_EVERY_MS = 500
const MAX_IDLE_MS = 30

async function readLists(
  service: ServiceProcess,
  accountId: string,
  expected: readonly BenchContact[],
): Promise<Map<string, number[]>> {
  const connection = new Client(service.url)
  try {
    return await measureLists((path) => get(connection, service.key, path), accountId, expected)
  } finally {
    await connection.destroy()
  }
}

async function measureLists(
  read: <Body>(path: string) => Promise<{ body: Body; tookMs: number }>,
  accountId: string,
  expected: readonly BenchContact[],
): Promise<Map<string, number[]>> {
  const path = `/accounts/${accountId}/contacts`
  await checkContacts((cursor) => read<ListBody>(`${path}?limit=200${cursor}`), expected)
  const { body } = await read<{ groups: { id: string }[] }>(`/accounts/${accountId}/contact-groups`)
  const groupIds = body.groups.map(({ id }) => id)
  const samples = new Map<string, number[]>()
  for (let n = 0; n < REQUESTS; n += 1) {
    const contact = expected[(n * 37) % expected.length]
    if (contact === undefined) throw new Error('There are no contacts.')
    for (const { name, params, pages = 0 } of LISTS) {
      const query = new URLSearchParams({ ...params(contact, groupIds[n % groupIds.length] ?? ''), limit: `${LIMIT}` })
      for (let page = 0, cursor = ''; page <= pages; page += 1) {
        const { body, tookMs } = await read<ListBody>(`${path}?${query}${cursor}`)
        if (body.contacts.length === 0) throw new Error(`The list ${name} is empty: ${query}`)
        samples.set(name, [...(samples.get(name) ?? []), tookMs])
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

async function get<Body>(connection: Client, key: string, path: string): Promise<{ body: Body; tookMs: number }> {
  const startMs = performance.now()
  const response = await connection.request({ method: 'GET', path, headers: { authorization: `Bearer ${key}` } })
  const text = await response.body.text()
  const tookMs = performance.now() - startMs
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode} ${text}`)
  return { body: JSON.parse(text), tookMs }
}
