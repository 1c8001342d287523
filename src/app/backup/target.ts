import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { DEAD_AFTER_MS } from '../../accounts/cluster/index.ts'
import type { Config } from '../../config/index.ts'
import { migrations } from '../../migrations/index.ts'
import {
  type DataLock,
  type Db,
  fileReplacement,
  findState,
  type Handle,
  isUnreleased,
  lockDataFolder,
  migrationStatus,
  postgresReplacement,
  type Replacement,
  setState,
  unknownMigrations,
} from '../../platform/db/index.ts'
import { silentLog } from '../../platform/log/index.ts'
import { RING_STATE, ringFile, storedRing, writeSecret } from '../../platform/secrets/index.ts'
import { fileStorePath, openStore } from '../store.ts'

/** The database that a backup is restored to. */
export interface RestoreTarget {
  /** The key ring that the installation generated. */
  generatedRing(): Promise<string | undefined>
  /** Creates the next database, empty. */
  begin(): Promise<Db>
  /** Adds keys to the generated ring, and replaces the current database by the next one. */
  finish(addedKeys: string | undefined): Promise<void>
  /** Deletes the next database unless it was finished. */
  close(): Promise<void>
}

/** Throws when the service runs, or when there is a database and `overwrite` is false. */
export function openTarget(config: Config, overwrite: boolean): Promise<RestoreTarget> {
  return config.databaseUrl === undefined
    ? fileTarget(config, overwrite)
    : postgresTarget(config, config.databaseUrl, overwrite)
}

async function fileTarget(config: Config, overwrite: boolean): Promise<RestoreTarget> {
  const file = fileStorePath(config)
  const folder = dirname(file)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock: DataLock = await lockDataFolder(folder, { database: file, onWait: () => {}, waitMs: 0 })
  if (existsSync(file) && !overwrite) {
    lock.release()
    throw exists(file)
  }
  let replacement: Replacement | undefined
  const generatedRing = async () => storedRing(config.dataDir)
  return {
    generatedRing,

    async begin() {
      replacement = fileReplacement(file, [join(folder, 'search.db')])
      return replacement.db
    },

    async finish(addedKeys) {
      // Before the swap: they open the new database, and the current one still opens with its own.
      if (addedKeys !== undefined) writeSecret(ringFile(config.dataDir), withKeys(await generatedRing(), addedKeys))
      await replacement?.swap()
    },

    async close() {
      await replacement?.close()
      lock.release()
    },
  }
}

async function postgresTarget(config: Config, url: string, overwrite: boolean): Promise<RestoreTarget> {
  const current = await openStore(config, silentLog)
  let replacement: Replacement | undefined
  const { applied, unknown } = await migrationStatus(current.db, migrations)
  try {
    if (applied.length > 0 && !overwrite) throw exists('the database of DATABASE_URL')
    if (unknown.length > 0) {
      const { problem } = unknownMigrations(unknown)
      throw new Error(
        `${problem} ${isUnreleased(unknown) ? 'Restore' : 'Restore with that version, or'} to another database.`,
      )
    }
    if (applied.length > 0) await requireStopped(current.db.read, current.db)
  } catch (error) {
    await current.close()
    throw error
  }
  const generatedRing = async () => (applied.length > 0 ? findState(current.db.read, RING_STATE) : undefined)
  return {
    generatedRing,

    async begin() {
      replacement = await postgresReplacement({ url, beforeSwap: (tx) => requireStopped(tx, current.db) })
      return replacement.db
    },

    async finish(addedKeys) {
      const ring = await generatedRing()
      const next = addedKeys === undefined ? ring : withKeys(ring, addedKeys)
      if (next !== undefined) await replacement?.db.transaction((tx) => setState(tx, RING_STATE, next))
      await replacement?.swap()
    },

    async close() {
      await replacement?.close()
      await current.close()
    },
  }
}

async function requireStopped(handle: Handle, { dialect }: Db): Promise<void> {
  const living = await handle
    .selectFrom('instances')
    .select(['id', sql<number>`${dialect.nowMs} - "heartbeatAt"`.as('silentMs')])
    .where('heartbeatAt', '>', sql<number>`${dialect.nowMs} - ${sql.lit(DEAD_AFTER_MS)}`)
    .execute()
  const [first] = living
  if (first === undefined) return
  const others = living.length === 1 ? '' : ` and ${living.length - 1} more`
  throw new Error(
    `The service runs: instance ${first.id}${others}, last seen ${Math.round(first.silentMs / 1000)} s ago.\nStop every instance. After a crash, wait ${DEAD_AFTER_MS / 1000} s.`,
  )
}

function exists(what: string): Error {
  return new Error(`There is data already: ${what}.\nPass --overwrite to replace it by the backup.`)
}

const withKeys = (ring: string | undefined, added: string) => (ring === undefined ? added : `${ring},${added}`)
