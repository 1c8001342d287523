import { type Kysely, sql } from 'kysely'

/** Accounts, how they are connected and erased, and the instances that own them. */
export const name = '0002-accounts'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    // A connected mailbox with its calendars. The API and the hosted pages write what it is, the instance that owns it
    // what sync found out, under its `epoch`. Secrets are sealed. The user deletes the row first of all;
    // `accountErasures` then says that the rest is being erased.
    sql`create table "accounts" (
      "id" text not null primary key,
      "email" text not null,
      "provider" text not null,
      "status" text not null,
      "statusReason" text,
      "paused" integer not null,
      "watch" integer not null,
      "customUserId" text,
      "searchText" text not null default '',
      "providerUser" text not null,
      "identity" text not null,
      "mailHost" text not null default '',
      "settings" text not null,
      "secrets" text not null,
      "tokens" text not null,
      "tokenLease" text,
      "tokenLeaseUntil" bigint,
      "accessVersion" bigint not null default 1,
      "trouble" text,
      "lastSyncAt" bigint,
      "syncRequestedAt" bigint,
      "ownerInstance" text,
      "epoch" bigint not null default 0,
      "dataVersion" bigint not null default 0,
      "version" bigint not null default 1,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "accounts_identity" on "accounts" ("identity")`,
    sql`create index "accounts_customUserId_partial" on "accounts" ("customUserId") where "customUserId" is not null`,
    // Revoking a grant affects all accounts of its user.
    sql`create index "accounts_providerUser" on "accounts" ("providerUser")`,
    // Gmail notifications name the address.
    sql`create index "accounts_address" on "accounts" (lower("email"))`,
    sql`create index "accounts_syncRequestedAt" on "accounts"
      ("ownerInstance", "id", "syncRequestedAt") where "syncRequestedAt" is not null`,
    // An instance reads its accounts in pages: 5,000 at once would block the event loop.
    sql`create index "accounts_ownerInstance_id" on "accounts" ("ownerInstance", "id")`,
    sql`create index "accounts_trouble" on "accounts" ("trouble", "id") where "trouble" is not null`,
    // Covers lists and searches of accounts.
    sql`create index "accounts_list" on "accounts" ("id", "searchText", "status", "paused", "provider")`,

    // Accounts whose data is being erased, written in the transaction that deletes the account. While the row exists,
    // nothing of the account but `account.deleted` is sent or shown, and any process may continue. Deleted last, when
    // every table was emptied.
    sql`create table "accountErasures" (
      "accountId" text not null primary key,
      "requestedAt" bigint not null,
      "revocation" text)`,

    // One row per running process, written by its heartbeat with the time of the database. `lockKey` names the session
    // lock of PostgreSQL that proves that it lives. The row is deleted when the process stops, or when another instance
    // finds it dead and takes its accounts over.
    sql`create table "instances" (
      "id" text not null primary key,
      "heartbeatAt" bigint not null,
      "startedAt" bigint not null,
      "syncTotals" text,
      "lockKey" text)`,

    // Numbers the changes that the API made to a mailbox, so that sync recognises what it read before them. Written in
    // the transaction that stores a change. Erased with the account.
    sql`create table "apiChanges" (
      "accountId" text not null primary key,
      "latest" bigint not null,
      "latestDeletion" bigint not null,
      "latestFolder" bigint not null,
      "labelsCleared" integer not null default 0)`,

    // Hosted sessions, in which a user connects an account. Written by the API and by the pages. The code is stored as
    // a hash only. Rows are deleted `RETENTION_SESSIONS_DAYS` after they expired.
    sql`create table "authSessions" (
      "id" text not null primary key,
      "codeHash" text not null,
      "status" text not null,
      "provider" text,
      "providerFixed" integer not null default 0,
      "email" text,
      "invitedEmail" text,
      "customUserId" text,
      "redirectUri" text not null,
      "forceConsent" integer not null,
      "locale" text,
      "jsonStateHash" text,
      "attempts" integer not null default 0,
      "accountId" text,
      "failureCode" text,
      "expiresAt" bigint not null,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "authSessions_codeHash" on "authSessions" ("codeHash")`,
    sql`create index "authSessions_expiresAt" on "authSessions" ("expiresAt")`,

    // Consents that users were sent to a provider for, by the hash of their state. The callback takes each once and
    // empties the sealed `facts`. Rows are deleted with the sessions.
    sql`create table "oauthFlows" (
      "stateHash" text not null primary key,
      "sessionId" text not null,
      "provider" text not null,
      "facts" text not null,
      "usedAt" bigint,
      "expiresAt" bigint not null,
      "createdAt" bigint not null)`,
    sql`create index "oauthFlows_expiresAt" on "oauthFlows" ("expiresAt")`,
  ]) {
    await statement.execute(db)
  }
}
