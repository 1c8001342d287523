import { type Kysely, sql } from 'kysely'

/** API keys, and the audit log of what operators and their programs changed. */
export const name = '0044-keys-and-audit'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`create table "apiKeys" (
      "id" text primary key,
      "keyHash" text not null unique,
      "name" text not null,
      "scope" text not null,
      "hint" text not null,
      "createdBy" text not null,
      "createdAt" bigint not null,
      "expiresAt" bigint,
      "lastUsedAt" bigint)`,
    sql`create table "auditEntries" (
      "id" text primary key,
      "at" bigint not null,
      "actor" text not null,
      "action" text not null,
      "target" text,
      "requestId" text,
      "address" text,
      "details" text not null)`,
    sql`create index "auditEntries_at" on "auditEntries" ("at", "id")`,
    sql`create index "auditEntries_actor" on "auditEntries" ("actor", "at", "id")`,
    sql`create index "auditEntries_action" on "auditEntries" ("action", "at", "id")`,
  ])
    await statement.execute(db)
}
