import type { Config } from '../../config/index.ts'
import { migrations } from '../../migrations/index.ts'
import { type ArchiveHeader, type ArchiveSummary, readArchive } from '../../platform/archive/index.ts'
import { type Db, emptiedTable, isUnreleased, type LoadedTable, migrateUp } from '../../platform/db/index.ts'
import { CANARY_STATE } from '../../platform/secrets/index.ts'
import { afterRestore } from '../feature-list.ts'
import { keysToAdd } from './restored-keys.ts'
import { openTarget } from './target.ts'

interface RestoreOptions {
  file: string
  /** Replaces a database that exists. */
  overwrite: boolean
  /** The service has not run since the backup, so nothing was sent or announced since. */
  isMoved: boolean
  nowMs: number
  onRows(phase: 'checking' | 'restoring', table: string, rows: number): void
  onMigrated(names: readonly string[]): void
  warn(message: string): void
  signal: AbortSignal
}

export interface CheckedArchive extends ArchiveSummary {
  header: ArchiveHeader
  /** The sealed text that shows whether a key ring opens the archive. */
  canary: string | undefined
}

/** Reads the archive to its end and checks that this version can restore it. Throws `ArchiveError`, or an error for the operator. */
export async function checkArchive(
  file: string,
  { onRows, signal }: Pick<RestoreOptions, 'onRows' | 'signal'>,
): Promise<CheckedArchive> {
  let canary: string | undefined
  let count = 0
  const checked = await readArchive(
    file,
    {
      header: ({ version, migrations: applied }) => {
        const knownNames = new Set(migrations.map(({ name }) => name))
        const unknown = applied.filter((name) => !knownNames.has(name))
        if (unknown.length === 0) return
        if (isUnreleased(unknown)) {
          throw new Error(`${file} is from before the first release of Posthorn and cannot be restored.`)
        }
        throw new Error(
          `${file} was written by a newer Posthorn (${version}; ${unknown.join(', ')}). Restore it with that version.`,
        )
      },
      rows: ({ table }, rows) => {
        count += rows.length
        if (table === 'serviceState') canary ??= findCanary(rows)
        onRows('checking', table, count)
      },
    },
    signal,
  )
  return { ...checked, canary }
}

/**
 * Replaces the database of these settings by the archive. The service must not run. Until the last step nothing that exists is changed,
 * and that step is atomic. Throws for the operator.
 */
export async function restore(config: Config, options: RestoreOptions): Promise<CheckedArchive> {
  const target = await openTarget(config, options.overwrite)
  try {
    const archive = await checkArchive(options.file, options)
    const keys = await keysToAdd(config, target, archive)
    const db = await target.begin()
    await load(db, archive, options)
    await migrateUp(db, migrations, options.onMigrated)
    await db.transaction((tx) => afterRestore(tx, options))
    options.signal.throwIfAborted()
    await target.finish(keys)
    return archive
  } finally {
    await target.close()
  }
}

/** Creates the tables as they were, whichever engine they come from, and fills them. */
async function load(db: Db, { header }: CheckedArchive, options: RestoreOptions): Promise<void> {
  const { file, onRows, warn, signal } = options
  const applied = migrations.filter(({ name }) => header.migrations.includes(name))
  await migrateUp(db, applied, () => {})
  let current: LoadedTable | undefined
  let count = 0
  await readArchive(
    file,
    {
      table: async ({ table, columns }) => {
        current = await emptiedTable(db, table, columns)
        if (current === undefined) warn(`The table ${table} is not one of Posthorn's. It is not restored.`)
      },
      rows: async ({ table }, rows) => {
        await current?.insert(rows)
        count += rows.length
        onRows('restoring', table, count)
      },
    },
    signal,
  )
}

function findCanary(rows: readonly string[]): string | undefined {
  const states: [string, string][] = rows.map((row) => JSON.parse(row))
  return states.find(([name]) => name === CANARY_STATE)?.[1]
}
