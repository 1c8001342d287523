import { type Kysely, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'

/**
 * An index on leased deliveries, so that a start on the file store releases them without scanning all waiting ones (two seconds for
 * a million). PostgreSQL gets no such index: leases expire there, and claims then update no index.
 */
export const name = '0004-held-deliveries'

export async function up(db: Kysely<unknown>, engine: Db['engine']): Promise<void> {
  if (engine !== 'sqlite') return
  await sql`create index "webhookDeliveries_leasedUntil_partial" on "webhookDeliveries" ("leasedUntil")
    where "leasedUntil" is not null`.execute(db)
}
