import { type Kysely, sql } from 'kysely'

/** A number per account: as long as it is the same, so is every page of its messages. */
export const name = '0028-data-version'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "accounts" add column "dataVersion" bigint not null default 0`.execute(db)
}
