import { sql } from 'kysely'
import type { Db } from '../src/platform/db/index.ts'
import { type Log, type LogFields, silentLog } from '../src/platform/log/index.ts'
import { cpuMs } from './figures.ts'

/** CPU time of this process and of its database connections while `work` runs. */
export async function spentHere(db: Db, work: () => Promise<unknown>): Promise<number> {
  const [backends, before] = [await backendTimes(db), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 + (await backendMsSince(db, backends))
}

/** CPU time of another process and of all connections to the database. */
export async function spentBy(pid: number, db: Db, work: () => Promise<unknown>): Promise<number> {
  const [backends, before] = [await backendTimes(db), await cpuMs(pid)]
  await work()
  return (await cpuMs(pid)) - before + (await backendMsSince(db, backends))
}

/** CPU time so far of each connection to the database on PostgreSQL, in ms, by its process. */
export async function backendTimes(db: Db | undefined): Promise<ReadonlyMap<number, number>> {
  if (db === undefined || db.engine !== 'postgres') return new Map()
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database()`.execute(db.read)
  const times = new Map<number, number>()
  // One that has closed since has no times any more.
  for (const { pid } of rows) times.set(pid, await cpuMs(pid).catch(() => 0))
  return times
}

/** CPU time of the connections since `before`, without those that were closed meanwhile. */
export async function backendMsSince(db: Db | undefined, before: ReadonlyMap<number, number>): Promise<number> {
  let sum = 0
  for (const [pid, ms] of await backendTimes(db)) sum += Math.max(0, ms - (before.get(pid) ?? 0))
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
