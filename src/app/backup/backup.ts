import { existsSync } from 'node:fs'
import type { Config } from '../../config/index.ts'
import { type ArchiveSummary, writeArchive } from '../../platform/archive/index.ts'
import { postgresSnapshot, type Snapshot, type SnapshotTable, sqliteSnapshot } from '../../platform/db/index.ts'
import { buildRing, RING_STATE, ringLocation, ringText, storedRing } from '../../platform/secrets/index.ts'
import { tablesNotInBackups } from '../feature-list.ts'
import { fileStorePath } from '../store.ts'
import { VERSION } from '../version.ts'

interface BackupOptions {
  /** Created. */
  file: string
  /** Puts the key ring into the archive. */
  withKeys: boolean
  nowMs: number
  onRows(table: string, rows: number): void
  signal: AbortSignal
}

interface BackupResult extends ArchiveSummary {
  /** Where the key ring is that opens the secrets of the backup. */
  keys: string
}

/** Writes one state of the database of these settings to a file, beside a running service. Throws for the operator. */
export async function backup(config: Config, options: BackupOptions): Promise<BackupResult> {
  const { file, withKeys, nowMs, onRows, signal } = options
  const snapshot = await openSnapshot(config)
  try {
    const { engine } = snapshot
    const migrations = (await readRows<[string]>(snapshot, 'migrations')).map(([name]) => name).sort()
    if (migrations.length === 0) throw new Error('The database is empty. There is nothing to back up.')
    const states = new Map(await readRows<[string, string]>(snapshot, 'serviceState'))
    const configured = config.encryptionKeys
    const generated = engine === 'sqlite' ? storedRing(config.dataDir) : states.get(RING_STATE)
    const keyRing = withKeys ? ringText(buildRing(configured, generated)) : null
    const tables = snapshot.tables.filter(({ table }) => !tablesNotInBackups.has(table))
    const summary = await writeArchive(
      file,
      {
        header: { version: VERSION, engine, createdAt: nowMs, migrations, keyRing },
        tables: tables.map((table) => ({ ...table, rows: () => withoutRing(snapshot.rows(table), table) })),
      },
      { onRows, signal },
    )
    return { ...summary, keys: ringLocation(configured, config.dataDir, engine) }
  } finally {
    await snapshot.close()
  }
}

async function openSnapshot(config: Config): Promise<Snapshot> {
  if (config.databaseUrl !== undefined) return postgresSnapshot(config.databaseUrl)
  const file = fileStorePath(config)
  // SQLite would create it.
  if (!existsSync(file)) throw new Error(`${file} does not exist. Check DATA_DIR.`)
  return sqliteSnapshot(file)
}

/** All rows of a small table. */
async function readRows<Row>(snapshot: Snapshot, name: string): Promise<Row[]> {
  const table = snapshot.tables.find((candidate) => candidate.table === name)
  const rows: Row[] = []
  if (table === undefined) return rows
  for await (const batch of snapshot.rows(table)) rows.push(...batch.map((row) => JSON.parse(row)))
  return rows
}

/** A key ring in the database is part of the data only when the operator says so. */
async function* withoutRing(batches: AsyncIterable<string[]>, { table }: SnapshotTable): AsyncGenerator<string[]> {
  for await (const batch of batches) {
    yield table === 'serviceState' ? batch.filter((row) => JSON.parse(row)[0] !== RING_STATE) : batch
  }
}
