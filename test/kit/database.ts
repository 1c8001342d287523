import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, inject } from 'vitest'
import { type Db, migrateUp, openPostgres, openSqlite } from '../../src/infra/db/index.ts'
import { migrations } from '../../src/migrations/index.ts'
import { administer, databaseUrl } from './postgres-server.ts'

/** Where one isolated database lives, as a service's settings say it. */
export interface Place {
  engine: Db['engine']
  /** A temporary folder, removed afterwards; on SQLite the database is `posthorn.db` in it. */
  dataDir: string
  /** Set on PostgreSQL only. */
  databaseUrl: string | undefined
}

export interface Databases {
  /** A migrated database of its own, closed and removed after the test (or after the suite, when made outside a test). Given a place: another handle on that one. */
  (place?: Place): Promise<Db>
  /** A migrated database that nobody has opened yet; for tests that start real services. */
  place(): Promise<Place>
}

/** Runs a suite once per engine. Without PostgreSQL its half is skipped, which CI=true turns into a failure. */
export function describeEachDatabase(title: string, suite: (open: Databases, engine: Db['engine']) => void): void {
  describe(`${title} (sqlite)`, () => suite(databases('sqlite'), 'sqlite'))
  describe.skipIf(inject('postgresUrl') === undefined)(`${title} (postgres)`, () =>
    suite(databases('postgres'), 'postgres'),
  )
}

function databases(engine: Db['engine']): Databases {
  const ofSuite: Undo[] = []
  const ofTest: Undo[] = []
  let undo = ofSuite
  beforeEach(() => {
    undo = ofTest
  })
  afterEach(async () => {
    await undoAll(ofTest)
    undo = ofSuite
  })
  afterAll(() => undoAll(ofSuite))
  const place = () => (engine === 'sqlite' ? sqlitePlace(undo) : postgresPlace(undo))
  return Object.assign(async (given?: Place) => openAt(given ?? (await place()), undo), { place })
}

type Undo = () => Promise<void>

async function undoAll(undo: Undo[]): Promise<void> {
  for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step()
}

async function openAt(place: Place, undo: Undo[]): Promise<Db> {
  const db =
    place.databaseUrl === undefined
      ? openSqlite({ file: join(place.dataDir, 'posthorn.db'), synchronous: 'NORMAL', onSlowStatement: () => {} })
      : openPostgres({ url: place.databaseUrl, maxConnections: 8, onError: () => {} })
  undo.push(() => db.close())
  return db
}

async function sqlitePlace(undo: Undo[]): Promise<Place> {
  const dataDir = await temporaryFolder(undo)
  const place: Place = { engine: 'sqlite', dataDir, databaseUrl: undefined }
  const own: Undo[] = []
  await migrateUp(await openAt(place, own), migrations, () => {})
  await undoAll(own)
  return place
}

async function postgresPlace(undo: Undo[]): Promise<Place> {
  const server = inject('postgresUrl')
  if (server === undefined) throw new Error('there is no PostgreSQL in this run')
  const name = `posthorn_test_${randomBytes(8).toString('hex')}`
  const dataDir = await temporaryFolder(undo)
  await administer(server, `create database "${name}" template "${inject('postgresTemplate')}"`)
  undo.push(() => administer(server, `drop database if exists "${name}" with (force)`))
  return { engine: 'postgres', dataDir, databaseUrl: databaseUrl(server, name) }
}

async function temporaryFolder(undo: Undo[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-test-'))
  undo.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}
