import { type Kysely, sql } from 'kysely'

/** Adds connections: credentials with which an application opens all mailboxes of an organisation. */
export const name = '0011-expand-connections'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    // Written by the API. `settings` has no secrets, `secrets` is sealed. `status` says whether the provider accepted
    // the credentials last. The API deletes the row when no account uses it any more.
    sql`create table "connections" (
      "id" text not null primary key,
      "provider" text not null,
      "kind" text not null,
      "name" text not null,
      "settings" text not null,
      "secrets" text not null,
      "status" text not null,
      "statusReason" text,
      "version" bigint not null default 1,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,

    // The access tokens of connections, sealed, with the lease of the process that requests the next one. They can be
    // requested again at any time. Deleted with the connection, or some days after they expired.
    sql`create table "connectionTokens" (
      "id" text not null primary key,
      "connectionId" text not null,
      "token" text,
      "expiresAt" bigint not null,
      "lease" text,
      "leaseUntil" bigint)`,
    sql`create index "connectionTokens_connectionId" on "connectionTokens" ("connectionId")`,
    sql`create index "connectionTokens_expiresAt" on "connectionTokens" ("expiresAt")`,

    // The connection whose token opens the mailbox. Null: the account has tokens of its own.
    sql`alter table "accounts" add column "connectionId" text`,
    sql`create index "accounts_connectionId" on "accounts" ("connectionId", "id") where "connectionId" is not null`,
  ]) {
    await statement.execute(db)
  }
}
