import { type Kysely, sql } from 'kysely'

/** Push channels at providers, and an index for the account address in Gmail notifications. */
export const name = '0007-push'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "pushSubscriptions" (
    "accountId" text not null primary key,
    "provider" text not null,
    "subscriptionId" text not null,
    "target" text not null,
    "clientStateHash" text,
    "expiresAt" bigint not null,
    "renewAt" bigint not null)`.execute(db)
  await sql`create index "pushSubscriptions_subscriptionId" on "pushSubscriptions" ("subscriptionId")`.execute(db)
  await sql`create index "accounts_address" on "accounts" (lower("email"))`.execute(db)
}
