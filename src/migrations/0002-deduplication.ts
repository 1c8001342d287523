import { type Kysely, sql } from 'kysely'

/**
 * Deduplication of events: its settings and the keys that events hold. Also indexes on events by type and time and the event count,
 * for the events API, and an index on deliveries by event.
 */
export const name = '0002-deduplication'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "deduplicationConfig" (
    "id" integer not null primary key,
    "enabled" integer not null,
    "keyFields" text not null,
    "ttlSeconds" integer not null)`.execute(db)
  await sql`insert into "deduplicationConfig" ("id", "enabled", "keyFields", "ttlSeconds")
    values (1, 1, '["accountId","eventType","objectId","version"]', 300)`.execute(db)

  await sql`create table "deduplicationClaims" (
    "key" text not null primary key,
    "eventId" text not null,
    "expiresAt" bigint not null)`.execute(db)
  await sql`create index "deduplicationClaims_expiresAt" on "deduplicationClaims" ("expiresAt")`.execute(db)

  // Recovery looks up the deliveries of every event in its range.
  await sql`create index "webhookDeliveries_eventId_endpointId" on "webhookDeliveries" ("eventId", "endpointId")`.execute(
    db,
  )
  // The number of visible events, updated when events are stamped or deleted.
  await sql`alter table "eventPosition" add column "total" bigint not null default 0`.execute(db)
  await sql`update "eventPosition" set "total" = (select count(*) from "events" where "position" is not null)`.execute(
    db,
  )

  await sql`create index "events_type_position" on "events" ("type", "position")`.execute(db)
  // Replaces the index on the time alone: ranges are read in steps, and many events share a millisecond.
  await sql`create index "events_createdAt_id" on "events" ("createdAt", "id")`.execute(db)
  await sql`drop index "events_createdAt"`.execute(db)
}
