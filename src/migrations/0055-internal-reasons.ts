import { type Kysely, sql } from 'kysely'

/** Whether the service wrote why a booking ended, so that guests do not read it. */
export const name = '0055-internal-reasons'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "bookings" add column "isReasonInternal" integer not null default 0`.execute(db)
}
