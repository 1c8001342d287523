import { sql } from 'kysely'
import type { Dialect } from './db.ts'

/** Identifies the run that holds a row, and how long it keeps it without renewal. The columns are `lease` and `leasedUntil`. */
export interface RowLease {
  token: string
  forMs: number
}

/** A run no longer holds a row: it was resolved or started again, or another process took it over. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** The end of a lease that begins now, by the database's time, the only clock that replicas share. */
export function leaseEnd({ nowMs }: Dialect, { forMs }: RowLease) {
  return sql<number>`${nowMs} + ${sql.lit(forMs)}`
}

/** Whether no run holds the row. */
export function isUnleased({ nowMs }: Dialect) {
  return sql<boolean>`("leasedUntil" is null or "leasedUntil" <= ${nowMs})`
}

/** Whether the row's lease has not ended: a run that was suspended for longer must not go on. */
export function isLeased({ nowMs }: Dialect) {
  return sql<boolean>`"leasedUntil" > ${nowMs}`
}
