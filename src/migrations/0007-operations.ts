import { type Kysely, sql } from 'kysely'

/** Running the service: API keys, the audit log, sign-ins of the portal, idempotent requests, and encryption keys. */
export const name = '0007-operations'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    // API keys that were created over the API, as hashes. Written by the API; `lastUsedAt` is at most a minute old. The
    // API deletes the row, and then the key opens nothing.
    sql`create table "apiKeys" (
      "id" text not null primary key,
      "keyHash" text not null unique,
      "name" text not null,
      "scope" text not null,
      "hint" text not null,
      "createdBy" text not null,
      "createdAt" bigint not null,
      "expiresAt" bigint,
      "lastUsedAt" bigint)`,

    // Who changed what, in the transaction of the change where there is one. Added by the HTTP server, never changed.
    // Rows are deleted after `RETENTION_AUDIT_DAYS`.
    sql`create table "auditEntries" (
      "id" text not null primary key,
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
    sql`create index "auditEntries_target" on "auditEntries" ("target", "at", "id") where "target" is not null`,

    // Sign-ins of the portal, by a hash of their token that a change of user, password or keys makes useless. Written
    // at the sign-in and with use, deleted at the sign-out. Rows are deleted when they expire.
    sql`create table "adminSessions" (
      "id" text not null primary key,
      "username" text not null,
      "createdAt" bigint not null,
      "usedAt" bigint not null)`,
    sql`create index "adminSessions_createdAt" on "adminSessions" ("createdAt")`,

    // The first response to each `Idempotency-Key`, sealed. The request that holds the lease writes it, and a
    // repetition with the same body gets it again. Rows are deleted 24 hours after the first request, by retention.
    sql`create table "idempotencyKeys" (
      "id" text not null primary key,
      "bodyHash" text not null,
      "state" text not null,
      "leaseUntil" bigint not null,
      "token" text not null,
      "status" integer,
      "answer" text,
      "expiresAt" bigint not null)`,
    sql`create index "idempotencyKeys_expiresAt" on "idempotencyKeys" ("expiresAt")`,

    // Which encryption keys each instance knows, so that a rotation waits for all of them. Written at the start and
    // after each change, deleted when the instance stops, and by retention for instances that no longer exist.
    sql`create table "instanceKeys" (
      "instanceId" text not null primary key,
      "keyIds" text not null)`,
  ]) {
    await statement.execute(db)
  }
}
