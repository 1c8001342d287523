import { sql } from 'kysely'
import type { Db } from '../src/platform/db/index.ts'
import { type Log, type LogFields, silentLog } from '../src/platform/log/index.ts'
import { cpuMs } from './figures.ts'

/** CPU time of this process and of its database connections while `work` runs. */
export async function spentHere(db: Db, work: () => Promise<unknown>): Promise<number> {
  const [databaseBefore, before] = [await backendCpuMs(db), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 + (await backendCpuMs(db)) - databaseBefore
}

/** CPU time of another process and of all connections to the database. */
export async function spentBy(pid: number, db: Db, work: () => Promise<unknown>): Promise<number> {
  const before = (await cpuMs(pid)) + (await backendCpuMs(db))
  await work()
  return (await cpuMs(pid)) + (await backendCpuMs(db)) - before
}

/** CPU time so far of the connections to the database on PostgreSQL, without the one that asks. */
export async function backendCpuMs(db: Db | undefined): Promise<number> {
  if (db === undefined || db.engine !== 'postgres') return 0
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(db.read)
  let sum = 0
  for (const { pid } of rows) sum += await cpuMs(pid)
  return sum
}

/** A log, and the first record of an operation that is written to it with `info`. */
export function awaitRecord(operation: string): { log: Log; written: Promise<LogFields> } {
  let resolve = (_fields: LogFields) => {}
  const written = new Promise<LogFields>((resolved) => {
    resolve = resolved
  })
  const log: Log = {
    ...silentLog,
    info: (_message, fields) => {
      if (fields?.operation === operation) resolve(fields)
    },
    warn: (message, fields) => process.stderr.write(`${message} ${String(fields?.error)}\n`),
    with: () => log,
  }
  return { log, written }
}
