import { existsSync } from 'node:fs'
import { fileStorePath, openFileStore, openStore } from '../app/store.ts'
import { type Config, readConfig } from '../config/index.ts'
import { migrations } from '../migrations/index.ts'
import { type Db, migrateUp, migrationStatus, unknownMigrations } from '../platform/db/index.ts'
import { type Log, silentLog } from '../platform/log/index.ts'
import type { CommandArguments, Terminal } from './command.ts'
import { printJson } from './json.ts'

/** Applies the pending migrations. On the file store the service must not run, because it locks the data folder. */
export async function migrateUpCommand(terminal: Terminal, { options }: CommandArguments): Promise<void> {
  const { config } = readConfig()
  const isJson = options.json !== undefined
  const store = await openStore(config, warningsTo(terminal))
  try {
    const applied: string[] = []
    await migrateUp(store.db, migrations, (names) => {
      applied.push(...names)
      for (const name of isJson ? [] : names) terminal.out(`applied ${name}`)
    })
    const count = applied.length
    if (isJson) return printJson(terminal, { applied })
    terminal.out(
      count === 0 ? 'The database is up to date.' : `The database is up to date. Applied migrations: ${count}.`,
    )
  } finally {
    await store.close()
  }
}

/** Lists the migrations. Only reads, so it works beside a running service, and creates no files. */
export async function migrateStatusCommand(terminal: Terminal, { options }: CommandArguments): Promise<void> {
  const { config } = readConfig()
  const db = await openForReading(config)
  try {
    const status = db === undefined ? undefined : await migrationStatus(db, migrations)
    const pending = status?.pending ?? migrations.map((migration) => migration.name)
    if (options.json !== undefined) {
      return printJson(terminal, { applied: status?.applied ?? [], pending, unknown: status?.unknown ?? [] })
    }
    for (const name of status?.applied ?? []) terminal.out(`applied  ${name}`)
    for (const name of pending) terminal.out(`pending  ${name}`)
    for (const name of status?.unknown ?? []) terminal.out(`unknown  ${name}`)
    terminal.out(conclusion(pending, status?.unknown ?? []))
  } finally {
    await db?.close()
  }
}

function conclusion(pending: readonly string[], unknown: readonly string[]): string {
  if (unknown.length > 0) {
    const { problem, remedy } = unknownMigrations(unknown)
    return `${problem} ${remedy}`
  }
  if (pending.length === 0) return 'No migrations are pending.'
  return `Pending migrations: ${pending.length}. Run: posthorn migrate up`
}

async function openForReading(config: Config): Promise<Db | undefined> {
  if (config.databaseUrl !== undefined) return (await openStore(config, silentLog)).db
  return existsSync(fileStorePath(config)) ? openFileStore(config, silentLog) : undefined
}

function warningsTo(terminal: Terminal): Log {
  const warn = (message: string) => terminal.error(message)
  const log: Log = { ...silentLog, warn, with: () => log }
  return log
}
