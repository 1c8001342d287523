import { type Kysely, sql } from 'kysely'

/** Codes that guests enter to prove that they read the mail of an address. */
export const name = '0041-booking-codes'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`create table "bookingCodes" (
      "id" text primary key,
      "code" text not null,
      "attempts" integer not null,
      "expiresAt" bigint not null)`,
    sql`create index "bookingCodes_expiresAt" on "bookingCodes" ("expiresAt")`,
  ])
    await statement.execute(db)
}
