import { randomBytes } from 'node:crypto'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, inject, onTestFinished } from 'vitest'
import { lazy } from '../../../src/platform/concurrency/lazy.ts'
import type { Db } from '../../../src/platform/db/index.ts'
import { checkStoredEvents } from '../events/events.ts'
import { checkStoredTexts } from '../messages/message-texts.ts'
import { openDatabase } from './open-database.ts'
import { administer, databaseUrl } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** True for the long tests, `npm run test:soak`. */
    isSoak: boolean
  }
}

/** The location of one isolated database, as in a service's settings. */
export interface Place {
  engine: Db['engine']
  /** A temporary folder, removed afterwards. On SQLite it contains `posthorn.db`. */
  dataDir: string
  /** Set on PostgreSQL only. */
  databaseUrl: string | undefined
}

export interface Databases {
  /** Opens a new migrated database, or another handle on the given one. Removed after the test, or after the suite when opened outside a test. */
  (place?: Place): Promise<Db>
  /** Creates a migrated database without opening it, for tests that start real services. */
  place(): Promise<Place>
}

/** Runs a suite once per engine. Skips PostgreSQL where it is missing, which CI=true turns into a failure. */
export function describeEachDatabase(title: string, suite: (open: Databases, engine: Db['engine']) => void): void {
  describe(`${title} (sqlite)`, () => suite(databases('sqlite'), 'sqlite'))
  describePostgres(`${title} (postgres)`, (open) => suite(open, 'postgres'))
}

/**
 * Runs a suite on one engine in `npm test` and on both in the long tests: for suites that start whole services or kill
 * processes, and judge what does not depend on the engine.
 */
export function describeOneDatabase(
  title: string,
  engine: Db['engine'],
  suite: (open: Databases, engine: Db['engine']) => void,
): void {
  if (inject('isSoak')) describeEachDatabase(title, suite)
  else if (engine === 'postgres') describePostgres(title, (open) => suite(open, engine))
  else describe(title, () => suite(databases(engine), engine))
}

/** For tests that need several processes on one database, which the file store does not support. */
export function describePostgres(title: string, suite: (open: Databases) => void): void {
  describe.skipIf(inject('postgresUrl') === undefined)(title, () => suite(databases('postgres')))
}

/** Databases of one engine, removed with the suite that calls this. */
export function databases(engine: Db['engine']): Databases {
  const ofSuite: Undo[] = []
  const dropping: Promise<unknown>[] = []
  let isInTest = false
  beforeEach(() => {
    isInTest = true
  })
  afterEach(() => {
    isInTest = false
  })
  afterAll(async () => {
    for (const step of ofSuite.reverse()) await step()
    await Promise.all(dropping)
  })
  // Cleanup runs in reverse order, so later users of a database close before it is dropped.
  const undo = (step: Undo) => (isInTest ? onTestFinished(step) : void ofSuite.push(step))
  const place = () => (engine === 'sqlite' ? sqlitePlace(undo) : postgresPlace(undo, dropping))
  async function open(existing?: Place): Promise<Db> {
    const db = openDatabase(existing ?? (await place()))
    undo(() => db.close())
    return db
  }
  return Object.assign(open, { place })
}

/** A database without a table, as before the first start. */
export async function emptyPlace(databases: Databases): Promise<Place> {
  const place = await databases.place()
  if (place.databaseUrl === undefined) await rm(join(place.dataDir, 'posthorn.db'))
  else await administer(place.databaseUrl, 'drop schema public cascade; create schema public')
  return place
}

type Undo = () => Promise<void>

async function sqlitePlace(undo: (step: Undo) => void): Promise<Place> {
  const dataDir = await temporaryFolder(undo)
  const place: Place = { engine: 'sqlite', dataDir, databaseUrl: undefined }
  await copyFile(inject('sqliteTemplate'), join(dataDir, 'posthorn.db'))
  undo(() => checkRows(place))
  return place
}

/** Connections of this process that create and drop databases: a new one each time would take longer than its statement. */
const maintenance = lazy(() => {
  const pool = new pg.Pool({
    connectionString: inject('postgresUrl'),
    max: 4,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  })
  // Ended by the server at the end of the run.
  pool.on('error', () => {})
  return pool
})

async function postgresPlace(undo: (step: Undo) => void, dropping: Promise<unknown>[]): Promise<Place> {
  const server = inject('postgresUrl')
  if (server === undefined) throw new Error('PostgreSQL is not available in this run')
  const name = `posthorn_test_${randomBytes(8).toString('hex')}`
  const dataDir = await temporaryFolder(undo)
  const template = inject('postgresTemplate')
  await maintenance().query(`create database "${name}" template "${template}" strategy file_copy`)
  undo(async () => {
    // Not awaited here, because the server waits for closed connections to end.
    dropping.push(maintenance().query(`drop database if exists "${name}" with (force)`))
  })
  const place: Place = { engine: 'postgres', dataDir, databaseUrl: databaseUrl(server, name) }
  undo(() => checkRows(place))
  return place
}

/** Requires that every stored event matches the catalogue, and every stored text of a message its rows. */
export async function checkRows(place: Pick<Place, 'dataDir' | 'databaseUrl'>): Promise<void> {
  const db = openDatabase(place)
  try {
    await checkStoredEvents(db)
    await checkStoredTexts(db)
  } finally {
    await db.close()
  }
}

/** `undo` receives how to remove it. */
export async function temporaryFolder(undo: (step: Undo) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-test-'))
  undo(() => rm(folder, { recursive: true, force: true }))
  return folder
}
