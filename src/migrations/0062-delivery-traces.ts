import { type Kysely, sql } from 'kysely'

/** How a message was delivered, by which its copies are recognised. */
export const name = '0062-delivery-traces'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "messages" add column "traceHash" text`.execute(db)
}
