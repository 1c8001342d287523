import { existsSync } from 'node:fs'
import { fileStorePath, openFileStore, openStore } from '../app/store.ts'
import { type Config, readConfig } from '../config/index.ts'
import { type Db, migrateUp, migrationStatus } from '../infra/db/index.ts'
import { type Log, silentLog } from '../infra/log/index.ts'
import { migrations } from '../migrations/index.ts'
import type { Terminal } from './terminal.ts'

/** Applies what is pending. On the file store the service must be stopped (its folder is locked). */
export async function migrateUpCommand(terminal: Terminal): Promise<void> {
  const { config } = readConfig()
  const store = await openStore(config, tellingWarnings(terminal))
  try {
    let count = 0
    await migrateUp(store.db, migrations, (name) => {
      count += 1
      terminal.out(`applied ${name}`)
    })
    terminal.out(count === 0 ? 'The database is up to date.' : `The database is up to date: ${count} applied.`)
  } finally {
    await store.close()
  }
}

/** Only reads, so it may be asked while the service runs, and creates nothing. */
export async function migrateStatusCommand(terminal: Terminal): Promise<void> {
  const { config } = readConfig()
  const db = await openForReading(config)
  try {
    const status = db === undefined ? undefined : await migrationStatus(db, migrations)
    const pending = status?.pending ?? migrations.map((migration) => migration.name)
    for (const name of status?.applied ?? []) terminal.out(`applied  ${name}`)
    for (const name of pending) terminal.out(`pending  ${name}`)
    for (const name of status?.unknown ?? []) terminal.out(`unknown  ${name} (made by a newer Posthorn)`)
    terminal.out(
      pending.length === 0 ? 'Nothing is pending.' : `${pending.length} pending; apply with: posthorn migrate up`,
    )
  } finally {
    await db?.close()
  }
}

async function openForReading(config: Config): Promise<Db | undefined> {
  if (config.databaseUrl !== undefined) return (await openStore(config, silentLog)).db
  return existsSync(fileStorePath(config)) ? openFileStore(config, silentLog) : undefined
}

function tellingWarnings(terminal: Terminal): Log {
  const warn = (message: string) => terminal.error(message)
  const log: Log = { ...silentLog, warn, with: () => log }
  return log
}
