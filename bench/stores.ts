import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { administer, databaseUrl, findServer } from '../test/kit/database/postgres-server.ts'
import { evictFiles } from './cold-files.ts'

/** A data folder, and on PostgreSQL a database. Both are new and deleted after `measure`, except with `BENCH_FOLDER`. */
export interface Place {
  dataDir: string
  databaseUrl?: string
  /** Removes the data from memory. Nothing may be connected. Undefined for the server of TEST_DATABASE_URL. */
  cool?(): Promise<void>
}

/** The stores to measure, separated by commas. */
const STORES = (process.env.BENCH_STORES ?? 'file,postgres').split(',')
/**
 * Keeps the stores in this folder, and measures those that are there, for benchmarks that seed with `seedOnce`. On PostgreSQL it needs
 * the server of TEST_DATABASE_URL, whose database stays too.
 */
const FOLDER = process.env.BENCH_FOLDER

/** Measures the file store, then PostgreSQL. */
export async function onEachStore(
  say: (line: string) => void,
  measure: (title: string, place: Place) => Promise<void>,
): Promise<void> {
  await onStoreSets(say, [''], async (title, [place]) => {
    if (place !== undefined) await measure(title, place)
  })
}

/** The same with several stores of one kind at once, one for each suffix. */
export async function onStoreSets(
  say: (line: string) => void,
  suffixes: readonly string[],
  measure: (title: string, places: readonly Place[]) => Promise<void>,
): Promise<void> {
  if (STORES.includes('file')) {
    await withFolders('file', suffixes, (folders) =>
      measure(
        'file store',
        folders.map((dataDir) => ({ dataDir, cool: () => evictFiles(dataDir) })),
      ),
    )
  }
  if (STORES.includes('postgres')) await onPostgres(say, suffixes, measure)
}

async function onPostgres(
  say: (line: string) => void,
  suffixes: readonly string[],
  measure: (title: string, places: readonly Place[]) => Promise<void>,
): Promise<void> {
  const server = await findServer()
  if (server === undefined) return say('PostgreSQL could not be started.')
  const { url, restart } = server
  const prefix = FOLDER === undefined ? `posthorn_bench_${process.pid}` : 'posthorn_bench'
  const names = suffixes.map((suffix) => prefix + suffix)
  try {
    for (const name of names) {
      if (!(await hasDatabase(url, name))) await administer(url, `create database "${name}"`)
    }
    const cool = restart === undefined ? undefined : () => coolPostgres(url, restart)
    await withFolders('postgres', suffixes, (folders) =>
      measure(
        'PostgreSQL',
        folders.map((dataDir, index) => ({
          dataDir,
          databaseUrl: databaseUrl(url, names[index] ?? ''),
          ...(cool !== undefined && { cool }),
        })),
      ),
    )
    if (FOLDER !== undefined) return
    for (const name of names) await administer(url, `drop database "${name}" with (force)`)
  } finally {
    await server.stop()
  }
}

async function hasDatabase(url: string, name: string): Promise<boolean> {
  return (await queryServer(url, `select from pg_database where datname = '${name}'`)).length > 0
}

async function coolPostgres(url: string, restart: (meanwhile: () => Promise<void>) => Promise<void>): Promise<void> {
  const [row] = await queryServer<{ data_directory: string }>(url, 'show data_directory')
  await restart(() => evictFiles(row?.data_directory ?? ''))
}

async function queryServer<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<Row>(statement).finally(() => client.end())
  return rows
}

async function withFolders(
  kind: string,
  suffixes: readonly string[],
  work: (folders: readonly string[]) => Promise<void>,
): Promise<void> {
  const parent = FOLDER ?? (await mkdtemp(join(tmpdir(), 'posthorn-bench-')))
  try {
    const folders = suffixes.map((suffix) => join(parent, kind + suffix))
    for (const folder of folders) await mkdir(folder, { recursive: true })
    await work(folders)
  } finally {
    if (FOLDER === undefined) await rm(parent, { recursive: true, force: true })
  }
}

/** Seeds the store, or adds to what an earlier run seeded. The result must survive JSON. */
export async function seedOnce<Seed>(place: Place, seed: (earlier: Seed | undefined) => Promise<Seed>): Promise<Seed> {
  const file = seedFile(place)
  const earlier = existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Seed) : undefined
  const seeded = await seed(earlier)
  await keepSeed(place, seeded)
  return seeded
}

/** What a later run reads instead of seeding. Call it after changes of what was seeded. */
export async function keepSeed(place: Place, seed: unknown): Promise<void> {
  await writeFile(seedFile(place), JSON.stringify(seed))
}

const seedFile = ({ dataDir }: Place) => join(dataDir, 'seed.json')
