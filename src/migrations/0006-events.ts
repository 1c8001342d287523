import { type Kysely, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'

/** Events, and their deliveries to the endpoints of the application. */
export const name = '0006-events'

export async function up(db: Kysely<unknown>, engine: Db['engine']): Promise<void> {
  const withoutRowid = engine === 'sqlite' ? sql`without rowid` : sql``
  for (const statement of [
    // Events, written in the transaction of the change that they report; numbered per account, without gaps. Only the
    // fan-out changes a row, once: it assigns the `position` in the one order of all events. Rows are deleted after
    // `RETENTION_EVENTS_DAYS`, or with the account, except its `account.deleted`.
    sql`create table "events" (
      "id" text not null primary key,
      "type" text not null,
      "accountId" text,
      "provider" text,
      "sequence" bigint,
      "objectId" text,
      "version" bigint,
      "data" text not null,
      "position" bigint,
      "fanOut" integer not null default 1,
      "createdAt" bigint not null)`,
    sql`create index "events_id_partial" on "events" ("id") where "position" is null`,
    sql`create unique index "events_position_partial" on "events" ("position") where "position" is not null`,
    // Ranges of time are read in steps, and many events share a millisecond.
    sql`create index "events_createdAt_id" on "events" ("createdAt", "id")`,
    // Partial, because the fan-out assigns the position moments later and would move both entries of each event.
    sql`create index "events_accountId_position" on "events" ("accountId", "position") where "position" is not null`,
    sql`create index "events_type_position" on "events" ("type", "position") where "position" is not null`,

    // The last number of the events of an account. Updated with each event, which orders the transactions of an
    // account. Erased with the account.
    sql`create table "eventSequences" (
      "accountId" text not null primary key,
      "sequence" bigint not null)`,

    // One row: the last `position`, and how many events have one. The fan-out locks it, so that one replica stamps at a
    // time and positions have no gaps.
    sql`create table "eventPosition" (
      "id" integer not null primary key,
      "position" bigint not null,
      "total" bigint not null default 0)`,
    sql`insert into "eventPosition" ("id", "position") values (1, 0)`,

    // One row: the settings of deduplication, the same for all replicas. Written by the API.
    sql`create table "deduplicationConfig" (
      "id" integer not null primary key,
      "enabled" integer not null,
      "keyFields" text not null,
      "ttlSeconds" integer not null)`,
    sql`insert into "deduplicationConfig" ("id", "enabled", "keyFields", "ttlSeconds")
      values (1, 1, '["accountId","eventType","objectId","version"]', 300)`,

    // Which event holds a deduplication key, and until when. The fan-out writes it in its transaction; with Redis the
    // claims are there instead. Rows are deleted an hour after they expired, because a late fan-out still needs them.
    sql`create table "deduplicationClaims" (
      "key" text not null primary key,
      "eventId" text not null,
      "expiresAt" bigint not null) ${withoutRowid}`,
    sql`create index "deduplicationClaims_expiresAt" on "deduplicationClaims" ("expiresAt")`,

    // Endpoints of the application, with secrets and headers sealed. Written by the API; the senders write the circuit
    // and `lastDeliveryAt`. The API deletes the row and cancels its deliveries, which stay until retention.
    sql`create table "webhookEndpoints" (
      "id" text not null primary key,
      "url" text not null,
      "secrets" text,
      "eventTypes" text not null,
      "headers" text,
      "isActive" integer not null,
      "retryCount" integer not null,
      "retryDelayMs" bigint not null,
      "retryStrategy" text not null,
      "timeoutMs" bigint not null,
      "lastDeliveryAt" bigint,
      "circuitState" text not null default 'closed',
      "circuitFailures" integer not null default 0,
      "circuitPauses" integer not null default 0,
      "circuitOpenedAt" bigint,
      "circuitProbeAt" bigint,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,

    // One event for one endpoint. The fan-out adds the row in the transaction that stamps the event; the sender that
    // holds the lease records its attempts, so that each event arrives at least once. Rows are deleted after
    // `RETENTION_DELIVERIES_DAYS`, or with the account, except the delivery of `account.deleted`.
    sql`create table "webhookDeliveries" (
      "id" text not null primary key,
      "endpointId" text not null,
      "eventId" text not null,
      "eventType" text not null,
      "accountId" text,
      "status" text not null,
      "trigger" text not null,
      "test" integer not null default 0,
      "attempt" integer not null default 0,
      "maxAttempts" integer not null,
      "nextAttemptAt" bigint,
      "leasedUntil" bigint,
      "lease" text,
      "url" text not null,
      "createdAt" bigint not null)`,
    sql`create index "webhookDeliveries_endpointId_nextAttemptAt_id_partial" on "webhookDeliveries"
      ("endpointId", "nextAttemptAt", "id") where "nextAttemptAt" is not null`,
    sql`create index "webhookDeliveries_endpointId_id" on "webhookDeliveries" ("endpointId", "id")`,
    sql`create index "webhookDeliveries_accountId_id_partial" on "webhookDeliveries"
      ("accountId", "id") where "accountId" is not null`,
    sql`create index "webhookDeliveries_eventType_id" on "webhookDeliveries" ("eventType", "id")`,
    sql`create index "webhookDeliveries_status_id_partial" on "webhookDeliveries"
      ("status", "id") where "status" <> 'success'`,
    // Recovery looks up the deliveries of every event in its range.
    sql`create index "webhookDeliveries_eventId_endpointId" on "webhookDeliveries" ("eventId", "endpointId")`,

    // One row: how many deliveries are stored. Updated in the transaction that adds or deletes them.
    sql`create table "webhookDeliveryCount" (
      "id" integer not null primary key,
      "total" bigint not null)`,
    sql`insert into "webhookDeliveryCount" ("id", "total") values (1, 0)`,

    // The request and response of each attempt of a delivery. Added with the result, never changed. Rows are deleted with
    // their delivery.
    sql`create table "webhookAttempts" (
      "deliveryId" text not null,
      "attempt" integer not null,
      "startedAt" bigint not null,
      "durationMs" bigint not null,
      "responseStatus" integer,
      "responseBody" text,
      "errorKind" text,
      "errorMessage" text,
      "signatures" integer not null,
      "headerNames" text,
      primary key ("deliveryId", "attempt")) ${withoutRowid}`,
  ]) {
    await statement.execute(db)
  }
  if (engine === 'sqlite') await indexLeases(db)
}

/**
 * A start on the file store releases leased deliveries without a scan of all that wait, which takes two seconds for a million. On
 * PostgreSQL leases expire instead, and claims update no index.
 */
async function indexLeases(db: Kysely<unknown>): Promise<void> {
  await sql`create index "webhookDeliveries_leasedUntil_partial" on "webhookDeliveries" ("leasedUntil")
    where "leasedUntil" is not null`.execute(db)
}
