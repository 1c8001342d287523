import { type Kysely, sql } from 'kysely'
import type { Db } from '../infra/db/index.ts'

/**
 * The few deliveries that somebody holds, so that a start on the file store frees them by their number and not by walking
 * all that wait: a million of those took two seconds. On PostgreSQL leases run out by themselves, and without an index on
 * what a claim writes PostgreSQL need not touch any index for it.
 */
export const name = '0004-held-deliveries'

export async function up(db: Kysely<unknown>, engine: Db['engine']): Promise<void> {
  if (engine !== 'sqlite') return
  await sql`create index "webhookDeliveries_leasedUntil_partial" on "webhookDeliveries" ("leasedUntil")
    where "leasedUntil" is not null`.execute(db)
}
