import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../platform/db/index.ts'

/** Folders and messages, as the API lists them. */
export function mailbox(engine: Db['engine']): RawBuilder<unknown>[] {
  const withoutRowid = engine === 'sqlite' ? sql`without rowid` : sql``
  const identity = engine === 'sqlite' ? sql`integer primary key` : sql`bigint generated always as identity primary key`
  return [
    // The labels of Gmail and the folders of the others, written by sync from the provider's list, and by the API. An
    // id survives a rename. The row is deleted when the provider no longer lists the folder, or with the account.
    sql`create table "labels" (
      "id" text not null primary key,
      "accountId" text not null,
      "providerId" text not null,
      "name" text not null,
      "displayName" text not null,
      "providerName" text,
      "type" text not null,
      "role" text,
      "delimiter" text,
      "mailboxId" text,
      "selectable" integer not null,
      "syncedAs" text,
      "color" text,
      "providerColor" text,
      "version" bigint not null default 0,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "labels_accountId_providerId" on "labels" ("accountId", "providerId")`,

    // One row per message in a synced folder, written by sync under the epoch of the account, and by the API once the
    // provider has accepted a change. A moved message keeps its id: the row waits without a location (`goneAt`) until
    // sync finds the message elsewhere or knows that it was deleted. Rows are deleted then, or with the account.
    sql`create table "messages" (
      "id" text not null primary key,
      "accountId" text not null,
      "providerMessageId" text not null,
      "threadId" text,
      "folderId" text,
      "uidValidity" text,
      "uid" bigint,
      "emailIdHash" text,
      "identityHash" text,
      "headerHash" text not null,
      "traceHash" text,
      "subject" text not null,
      "receivedAt" bigint not null,
      "unread" integer not null,
      "starred" integer not null,
      "hasAttachments" integer not null,
      "sizeBytes" bigint not null,
      "snippet" text not null,
      "text" text not null,
      "fields" text not null,
      "error" text,
      "reader" bigint,
      "goneAt" bigint,
      "apiChange" bigint,
      "confirmations" bigint not null default 0,
      "version" bigint not null default 1,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "messages_folderId_uidValidity_uid_partial" on "messages"
      ("folderId", "uidValidity", "uid") where "uid" is not null`,
    sql`create index "messages_folderId_id_partial" on "messages" ("folderId", "id") where "uid" is null`,
    sql`create index "messages_accountId_receivedAt_id" on "messages" ("accountId", "receivedAt", "id")`,
    sql`create index "messages_accountId_emailIdHash_partial" on "messages"
      ("accountId", "emailIdHash") where "emailIdHash" is not null`,
    sql`create index "messages_accountId_identityHash_partial" on "messages"
      ("accountId", "identityHash") where "identityHash" is not null`,
    sql`create index "messages_accountId_headerHash" on "messages" ("accountId", "headerHash")`,
    sql`create index "messages_accountId_goneAt_partial" on "messages"
      ("accountId", "goneAt") where "goneAt" is not null`,
    // Messages with provider ids are one row each; IMAP messages have a location instead.
    sql`create unique index "messages_accountId_providerMessageId" on "messages"
      ("accountId", "providerMessageId") where "uidValidity" is null`,
    sql`create index "messages_threadId" on "messages"
      ("threadId", "receivedAt", "id", "unread", "starred", "hasAttachments", "goneAt")`,
    sql`create index "messages_unreadable" on "messages" ("accountId", "folderId") where "error" is not null`,

    // The JSON that lists return of a message, written in the transaction that changes the message, or by the first
    // list that needs it. Derived: a migration that changes the JSON empties the table. Rows are deleted with their
    // message.
    sql`create table "messageTexts" (
      "messageId" text not null primary key,
      "folderId" text,
      "text" text not null)`,

    // The bodies of messages, with `sync.storeBodies` only. Sync adds an empty row with the message, and the body job
    // fills it. A body that is too large or cannot be fetched has no row. Rows are deleted with their message.
    sql`create table "messageBodies" (
      "messageId" text not null primary key,
      "accountId" text not null,
      "body" text,
      "attempts" integer not null default 0)`,
    sql`create index "messageBodies_accountId_attempts_messageId_partial" on "messageBodies"
      ("accountId", "attempts", "messageId") where "body" is null`,

    // Which messages a label or folder has, newest first, as lists read them. Written with the message; `unread` and
    // `hasAttachments` repeat its columns, so that a filtered list reads no other rows. Rows are deleted with their
    // message.
    sql`create table "messageLabels" (
      "labelId" text not null,
      "receivedAt" bigint not null,
      "messageId" text not null,
      "unread" integer not null,
      "hasAttachments" integer not null,
      primary key ("labelId", "receivedAt", "messageId")) ${withoutRowid}`,
    sql`create index "messageLabels_labelId_receivedAt_messageId_hasAttachments_partial" on "messageLabels"
      ("labelId", "receivedAt", "messageId", "hasAttachments") where "unread" = 1`,
    sql`create index "messageLabels_labelId_receivedAt_messageId_unread_partial" on "messageLabels"
      ("labelId", "receivedAt", "messageId", "unread") where "hasAttachments" = 1`,
    sql`create index "messageLabels_messageId" on "messageLabels" ("messageId")`,

    // How many messages, unread messages and threads a label has, updated in the transaction that changes them, because
    // counting is too slow for a list. Erased with the account.
    sql`create table "messageCounters" (
      "accountId" text not null,
      "labelId" text not null,
      "total" bigint not null,
      "unread" bigint not null,
      "threads" bigint not null default 0,
      primary key ("accountId", "labelId")) ${withoutRowid}`,

    // The threads that have messages with a label, as lists of threads read them. Written with `messageLabels`. A row
    // is deleted when its last message leaves the label.
    sql`create table "threadLabels" (
      "labelId" text not null,
      "threadId" text not null,
      "lastReceivedAt" bigint not null,
      "messages" bigint not null,
      primary key ("labelId", "threadId")) ${withoutRowid}`,
    sql`create index "threadLabels_labelId_lastReceivedAt" on "threadLabels" ("labelId", "lastReceivedAt", "threadId")`,
    sql`create index "threadLabels_threadId" on "threadLabels" ("threadId")`,

    // The Message-IDs of stored messages, and those that they name, for providers without threads: by them a new
    // message finds its thread. Written with the messages, kept after those are deleted, erased with the account.
    sql`create table "threadReferences" (
      "accountId" text not null,
      "reference" text not null,
      "threadId" text not null,
      "isStored" bigint not null,
      primary key ("accountId", "reference")) ${withoutRowid}`,

    // Threads that turned out to be part of another one. Written when a message joins two threads; the merger moves the
    // messages that are left (`isPending`). Kept, so that ids of threads continue to work, and erased with the account.
    sql`create table "threadMerges" (
      "threadId" text not null primary key,
      "accountId" text not null,
      "intoThreadId" text not null,
      "isPending" bigint not null)`,
    sql`create index "threadMerges_accountId" on "threadMerges" ("accountId")`,
    sql`create index "threadMerges_threadId_partial" on "threadMerges" ("threadId") where "isPending" = 1`,

    // The queue of the search index: messages that were added, changed or removed. Written with the message. The
    // indexer deletes exactly the rows that it has indexed; losing the index means adding all messages again.
    sql`create table "unindexedMessages" (
      "id" ${identity},
      "accountId" text not null,
      "messageId" text not null)`,
    sql`create index "unindexedMessages_accountId" on "unindexedMessages" ("accountId")`,
    ...(engine === 'postgres' ? searchIndex() : []),
  ]
}

/**
 * The search index of PostgreSQL, one tsvector per message; SQLite has it in a file of its own. Written by the indexer and derived from
 * the messages, so that it may be emptied at any time. Rows are deleted when the indexer reads that their message was.
 */
function searchIndex(): RawBuilder<unknown>[] {
  return [
    sql`create table "messageTerms" (
      "messageId" text not null primary key,
      "receivedAt" bigint not null,
      "terms" tsvector not null)`,
    // Terms are stored apart from the rows, so that a search reads few pages for many messages.
    sql`alter table "messageTerms" alter column "terms" set storage external`,
    sql`alter table "messageTerms" set (toast_tuple_target = 128)`,
    // Every search reads the pending list, which is 4 MB by default.
    sql`create index "messageTerms_terms" on "messageTerms" using gin ("terms") with (gin_pending_list_limit = 256)`,
  ]
}
