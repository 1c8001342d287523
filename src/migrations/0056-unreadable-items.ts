import { type Kysely, sql } from 'kysely'

/** Messages and folders that a provider does not return, so that they cost nothing but themselves. */
export const name = '0056-unreadable-items'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`create table "unreadableItems" (
      "accountId" text not null,
      "kind" text not null,
      "itemId" text not null,
      "labelId" text,
      "failures" integer not null,
      "reason" text not null,
      "known" text not null,
      "newSince" bigint,
      "isStored" integer not null,
      "failedAt" bigint not null,
      "nextAttemptAt" bigint not null,
      primary key ("accountId", "kind", "itemId")
    )`,
    sql`create index "unreadableItems_next" on "unreadableItems" ("accountId", "kind", "nextAttemptAt")`,
  ])
    await statement.execute(db)
}
