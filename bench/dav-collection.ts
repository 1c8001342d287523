import { setTimeout as sleep } from 'node:timers/promises'
import { DAVClient } from 'tsdav'
import { Client } from 'undici'
import { openDatabase } from '../test/kit/database/open-database.ts'
import { administer } from '../test/kit/database/postgres-server.ts'
import { eventually } from '../test/kit/eventually.ts'
import { startServiceProcess } from '../test/kit/service/process.ts'
import { client } from '../test/scenarios/client.ts'
import { PASSWORD } from '../test/scenarios/mailboxes.ts'
import { type Dovecot, startDovecot } from '../test/servers/dovecot.ts'
import { type Radicale, startRadicale } from '../test/servers/radicale.ts'
import { cpuMs, median, percentile } from './figures.ts'
import { getJson } from './get-json.ts'
import { slowStatements } from './new-mail.ts'
import { onEachStore, type Place } from './stores.ts'

export const USER = 'bench@mail.example'
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const MAX_P95_MS = 20

/** Reads one path of the service. Throws unless it answers with 200. */
export type Read = <Body>(path: string) => Promise<{ body: Body; tookMs: number }>
/** By the name of a list: how long each request took, in ms. */
export type Samples = Map<string, number[]>

/** One kind of collection, of which the first sync is measured beside bare tsdav, and the lists over HTTP. */
interface Collection {
  /** `10,000 contacts`. */
  title: string
  table: 'calendars' | 'contactBooks'
  env: Record<string, string>
  accountType: 'caldav' | 'carddav'
  /** How many times as long as tsdav the first sync may take. */
  maxRatio: number
  /** Those with a limit are what the figures are judged by. */
  lists: readonly { name: string; isLimited?: boolean }[]
  /** Stores the objects in Radicale. */
  fill(radicale: Radicale): Promise<void>
  /** Reads every object, as the first sync does. Throws unless they are all there. */
  fetchAll(dav: DAVClient): Promise<void>
  /** Compares every page with the expected objects, and measures the lists. */
  readLists(read: Read, accountId: string): Promise<Samples>
}

interface Round {
  bareMs: number
  syncMs: number
  /** CPU time of the service, without the database. */
  cpuMs: number
  lists: Samples
  slow: number
}

export async function benchCollection(collection: Collection, say: (line: string) => void): Promise<void> {
  const [mailServer, radicale] = await Promise.all([startDovecot(), startRadicale()])
  const rounds = new Map<string, Round[]>()
  try {
    await mailServer.addUser(USER, PASSWORD)
    await radicale.addUser(USER, PASSWORD)
    await collection.fill(radicale)
    // Radicale parses every object once.
    await fetchBare(collection, radicale)
    for (let round = 0; round < ROUNDS; round += 1) {
      await onEachStore(say, async (title, place) => {
        const bareMs = await fetchBare(collection, radicale)
        const measured = { bareMs, ...(await measure(collection, place, mailServer, radicale)) }
        rounds.set(title, [...(rounds.get(title) ?? []), measured])
      })
    }
  } finally {
    await mailServer.stop()
    await radicale.stop()
  }
  for (const [store, ofStore] of rounds) report(collection, store, ofStore, say)
}

export function addSample(samples: Samples, name: string, tookMs: number): void {
  samples.set(name, [...(samples.get(name) ?? []), tookMs])
}

function report(
  { title, lists, maxRatio }: Collection,
  store: string,
  rounds: readonly Round[],
  say: (line: string) => void,
): void {
  const seconds = (of: (round: Round) => number) => (median(rounds.map(of)) / 1000).toFixed(2).padStart(6)
  const ratio = median(rounds.map(({ syncMs, bareMs }) => syncMs / bareMs))
  say(`${store}, ${title}; medians of ${rounds.length} rounds`)
  say(
    `  first sync ${seconds(({ syncMs }) => syncMs)} s, bare tsdav ${seconds(({ bareMs }) => bareMs)} s: ${ratio.toFixed(2)} × bare (limit ${maxRatio}), CPU of the service ${seconds((round) => round.cpuMs)} s`,
  )
  for (const { name, isLimited } of lists) {
    const of = (p: number) =>
      median(rounds.map((round) => percentile(round.lists.get(name) ?? [], p)))
        .toFixed(1)
        .padStart(6)
    say(
      `  ${name.padEnd(31)} p50 ${of(0.5)} · p95 ${of(0.95)} · max ${of(1)} ms${isLimited ? ` (limit of p95: ${MAX_P95_MS})` : ''}`,
    )
  }
  say(`  slow statements (over 20 ms)    ${median(rounds.map(({ slow }) => slow))}`)
}

async function fetchBare({ accountType, fetchAll }: Collection, radicale: Radicale): Promise<number> {
  const startMs = performance.now()
  const dav = new DAVClient({
    serverUrl: radicale.url,
    credentials: { username: USER, password: PASSWORD },
    authMethod: 'Basic',
    defaultAccountType: accountType,
  })
  await dav.login()
  await fetchAll(dav)
  return performance.now() - startMs
}

async function measure(
  { table, env, readLists }: Collection,
  place: Place,
  mailServer: Dovecot,
  radicale: Radicale,
): Promise<Omit<Round, 'bareMs'>> {
  const service = await startServiceProcess({ ...place, env: { LOG_LEVEL: 'info', ...env } })
  const db = openDatabase(place)
  const connection = new Client(service.url)
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
        const rows = await db.read.selectFrom(table).select('syncedAt').execute()
        if (rows.length === 0 || rows.some(({ syncedAt }) => syncedAt === null)) throw new Error('not synced yet')
      },
      600_000,
      20,
    )
    const [syncMs, usedCpuMs] = [performance.now() - startMs, (await cpuMs(service.pid)) - startCpuMs]
    // Autovacuum does this in operation; the test server has none.
    if (place.databaseUrl !== undefined) await administer(place.databaseUrl, 'vacuum analyze')
    const slowBefore = slowStatements(service.output())
    const lists = await readLists((path) => getJson(connection, service.key, path), account.id)
    return { syncMs, cpuMs: usedCpuMs, lists, slow: slowStatements(service.output()) - slowBefore }
  } finally {
    await connection.destroy()
    await db.close()
    await service.stop()
  }
}

/** A service prepares for its first requests after its start; this measures one that runs. */
async function warmedUp(pid: number): Promise<void> {
  for (let before = -1, now = await cpuMs(pid); now - before > MAX_IDLE_MS; ) {
    await sleep(IDLE_EVERY_MS)
    before = now
    now = await cpuMs(pid)
  }
}

const IDLE_EVERY_MS = 500
const MAX_IDLE_MS = 30
