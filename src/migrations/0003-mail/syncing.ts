import { type RawBuilder, sql } from 'kysely'

/** How far mailboxes were read, and what reads them. */
export function syncing(): RawBuilder<unknown>[] {
  return [
    // How far a folder, or a mailbox that syncs as one, was read. Written in the transaction that stores what was read,
    // so that the cursor is never ahead of the rows. The row is deleted with the folder or the account.
    sql`create table "syncCursors" (
      "accountId" text not null,
      "labelId" text not null,
      "cursor" text,
      "parts" bigint not null default 0,
      "uidValidity" text,
      "announceAfter" bigint,
      "compareFrom" bigint,
      "lastSyncAt" bigint,
      primary key ("accountId", "labelId"))`,

    // How the sync of an account goes: attempts, errors, times. Written by its owner, for operators and for backoff
    // after a restart. Erased with the account.
    sql`create table "syncStates" (
      "accountId" text not null primary key,
      "attempts" bigint not null,
      "lastRunAt" bigint,
      "nextRunAt" bigint,
      "lastError" text,
      "limitViolations" integer not null default 0,
      "refusals" bigint not null default 0,
      "refusedVersion" bigint)`,

    // Messages and folders that a provider does not return, although it returns others. Sync writes the row after a
    // failure and reads the item again at `nextAttemptAt`. The row is deleted when it was read or no longer exists.
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
      primary key ("accountId", "kind", "itemId"))`,
    sql`create index "unreadableItems_next" on "unreadableItems" ("accountId", "kind", "nextAttemptAt")`,

    // How far back a folder or mailbox is stored; older messages may be at the provider only. Written by sync and
    // backfill. Without a row it is not known, and searches ask the provider. Erased with the account.
    sql`create table "mailHorizons" (
      "accountId" text not null,
      "scopeId" text not null,
      "storedSince" bigint not null,
      primary key ("accountId", "scopeId"))`,

    // The push subscription of an account at Gmail or Graph, written by its owner under the epoch, and by notifications
    // that make the renewal due (`renewAt` 0). Removed at the provider and here with the account.
    sql`create table "pushSubscriptions" (
      "accountId" text not null primary key,
      "provider" text not null,
      "subscriptionId" text not null,
      "target" text not null,
      "clientStateHash" text,
      "expiresAt" bigint not null,
      "renewAt" bigint not null)`,
    sql`create index "pushSubscriptions_subscriptionId" on "pushSubscriptions" ("subscriptionId")`,
    sql`create index "pushSubscriptions_due" on "pushSubscriptions" ("accountId") where "renewAt" = 0`,

    // The historical backfill of an account: written by the API that starts or pauses it and by the engine that runs
    // it. `version` fences a batch against a change that was made meanwhile. Erased with the account.
    sql`create table "backfills" (
      "accountId" text not null primary key,
      "status" text not null,
      "version" integer not null,
      "sinceMs" bigint not null,
      "processed" bigint not null,
      "total" bigint,
      "oldestReached" bigint,
      "samples" text not null,
      "attempts" integer not null,
      "losses" integer not null default 0,
      "nextBatchAt" bigint not null,
      "pausedBy" text,
      "lastError" text,
      "announcedAt" bigint not null,
      "announcedProcessed" bigint not null,
      "startedAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create index "backfills_status" on "backfills" ("status", "startedAt", "accountId")`,
    sql`create index "backfills_statusList" on "backfills" ("status", "accountId")`,

    // How far a backfill has read each folder, written in the transaction that stores a batch. Rows are deleted when
    // the backfill starts anew, and with the account.
    sql`create table "backfillFolders" (
      "accountId" text not null,
      "scopeId" text not null,
      "total" bigint,
      "isCounted" integer not null,
      "checkpoint" text,
      "isDone" integer not null,
      "lowUid" bigint,
      "error" text,
      "createdAt" bigint not null,
      primary key ("accountId", "scopeId"))`,
  ]
}
