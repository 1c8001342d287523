import { type RawBuilder, sql } from 'kysely'

/** Drafts, messages to send, and what became of sent ones. */
export function sending(): RawBuilder<unknown>[] {
  return [
    // Ids of messages that the service puts into a mailbox: sent copies and drafts. Written before the provider can
    // show the message; the sync that finds it takes the id and deletes the rows. What no message took is deleted after
    // 90 days.
    sql`create table "reservedMessages" (
      "accountId" text not null,
      "key" text not null,
      "messageId" text not null,
      "as" text not null,
      "createdAt" bigint not null,
      primary key ("accountId", "key"))`,
    sql`create index "reservedMessages_messageId" on "reservedMessages" ("messageId")`,
    sql`create index "reservedMessages_createdAt" on "reservedMessages" ("createdAt")`,

    // The identity of a draft over its versions, each of which is another message for the provider. Written with the
    // rows of messages in Drafts, by sync and by the API. The row is deleted with its message.
    sql`create table "drafts" (
      "messageId" text not null primary key,
      "accountId" text not null,
      "key" text not null,
      "providerDraftId" text)`,
    sql`create index "drafts_key" on "drafts" ("accountId", "key")`,

    // Drafts on their way to the provider. Written before the request, so that a repeated request continues with the
    // same draft after a crash. Rows are deleted after two days.
    sql`create table "draftCreations" (
      "messageId" text not null primary key,
      "accountId" text not null,
      "requestKey" text unique,
      "createdAt" bigint not null)`,
    sql`create index "draftCreations_accountId" on "draftCreations" ("accountId")`,
    sql`create index "draftCreations_createdAt" on "draftCreations" ("createdAt")`,

    // The request that changes or sends a draft at present, in whichever process. The request deletes its row; after
    // `heldUntil` another one may replace it, and retention deletes it. Erased with the account.
    sql`create table "draftLocks" (
      "messageId" text not null primary key,
      "accountId" text not null,
      "holder" text not null,
      "heldUntil" bigint not null)`,
    sql`create index "draftLocks_accountId" on "draftLocks" ("accountId")`,

    // Messages to send. The API adds the row with its first event; the worker that holds the lease sends it and records
    // what happened. `committedAt` is set before the first byte that could send, and from then on nobody sends it
    // again. Finished rows are deleted after 30 days, others only with the account.
    sql`create table "outbox" (
      "id" text not null primary key,
      "accountId" text not null,
      "status" text not null,
      "messageId" text not null,
      "rfcMessageId" text not null,
      "sentToken" text not null,
      "draftId" text,
      "draftHash" text,
      "subject" text not null,
      "envelope" text not null,
      "repliesTo" text,
      "repliedId" text,
      "sizeBytes" bigint not null,
      "refused" text not null,
      "error" text,
      "attempts" integer not null,
      "remaining" text,
      "checks" integer not null,
      "sendAt" bigint,
      "dueAt" bigint,
      "giveUpAt" bigint not null,
      "lease" text,
      "leasedUntil" bigint,
      "committedAt" bigint,
      "providerMessageId" text,
      "sentAt" bigint,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create index "outbox_due" on "outbox" ("accountId", "dueAt", "id") where "dueAt" is not null`,
    sql`create index "outbox_accountId_id" on "outbox" ("accountId", "id")`,
    sql`create index "outbox_status_id" on "outbox" ("status", "id") where "status" <> 'sent'`,
    sql`create index "outbox_leased" on "outbox" ("id") where "leasedUntil" is not null`,
    sql`create index "outbox_draftId" on "outbox" ("draftId") where "draftId" is not null`,
    sql`create index "outbox_sentToken" on "outbox" ("sentToken")`,

    // The composed message of an outbox row, in base64 and in parts, because one large value holds up the event loop.
    // Written with the row, deleted once the message is sent.
    sql`create table "outboxParts" (
      "outboxId" text not null,
      "part" integer not null,
      "data" text not null,
      primary key ("outboxId", "part"))`,

    // The SMTP server that worked for an account whose settings were derived. Written after a success, valid for the
    // credentials of `accessVersion`. Erased with the account.
    sql`create table "outboxServers" (
      "accountId" text not null primary key,
      "accessVersion" bigint not null,
      "smtp" text not null)`,

    // Whether the mail server or the service saves copies in Sent, once that is known, for the credentials of
    // `accessVersion`. Written by the sender. Erased with the account.
    sql`create table "outboxKeepers" (
      "accountId" text not null primary key,
      "accessVersion" bigint not null,
      "savedBy" text not null,
      "probe" text)`,

    // Opens, clicks and replies of a message, in sum. Written when it is sent with tracking, and updated with each
    // event. The token of its addresses is stored as a hash only. Rows are deleted after `RETENTION_TRACKING_DAYS`.
    sql`create table "trackings" (
      "id" text not null primary key,
      "accountId" text not null,
      "messageId" text not null,
      "tokenHash" text not null,
      "rfcIdHash" text,
      "subject" text not null,
      "openCount" bigint not null,
      "clickCount" bigint not null,
      "replyCount" bigint not null,
      "lastOpenedAt" bigint,
      "lastClickedAt" bigint,
      "lastRepliedAt" bigint,
      "version" bigint not null,
      "createdAt" bigint not null)`,
    sql`create unique index "trackings_tokenHash" on "trackings" ("tokenHash")`,
    sql`create index "trackings_accountId_rfcIdHash" on "trackings" ("accountId", "rfcIdHash")`,
    sql`create index "trackings_messageId" on "trackings" ("messageId")`,
    sql`create index "trackings_createdAt" on "trackings" ("createdAt")`,

    // The targets of the links of a tracked message, which the service redirects to and nowhere else. Written when it
    // is sent. Rows are deleted with their tracking.
    sql`create table "trackingLinks" (
      "trackingId" text not null,
      "number" integer not null,
      "url" text not null,
      primary key ("trackingId", "number"))`,

    // The single opens, clicks and replies, at most 1,000 of each type per message, because strangers cause them. Rows
    // are deleted with their tracking.
    sql`create table "trackingEvents" (
      "id" text not null primary key,
      "trackingId" text not null,
      "accountId" text not null,
      "type" text not null,
      "occurredAt" bigint not null,
      "automatedReason" text,
      "url" text,
      "replyMessageId" text,
      "userAgent" text,
      "ipAddress" text)`,
    sql`create index "trackingEvents_trackingId_id" on "trackingEvents" ("trackingId", "id")`,

    // Received messages that look like delivery reports. Sync adds the row with the message; the bounce reader deletes
    // it once the report was read, or after three days without success.
    sql`create table "pendingReports" (
      "messageId" text not null primary key,
      "accountId" text not null,
      "attempts" integer not null,
      "createdAt" bigint not null)`,
    sql`create index "pendingReports_accountId" on "pendingReports" ("accountId", "attempts", "messageId")`,

    // Results of delivery reports about sent messages. Written once per report, with its event. Rows are deleted after
    // `RETENTION_TRACKING_DAYS`.
    sql`create table "bounces" (
      "reportMessageId" text not null primary key,
      "accountId" text not null,
      "messageId" text,
      "kind" text not null,
      "recipients" text not null,
      "bouncedAt" bigint not null)`,
    sql`create index "bounces_messageId" on "bounces" ("messageId") where "messageId" is not null`,
    sql`create index "bounces_accountId" on "bounces" ("accountId")`,
    sql`create index "bounces_bouncedAt" on "bounces" ("bouncedAt")`,
  ]
}
