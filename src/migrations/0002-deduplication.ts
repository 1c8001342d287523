import { type Kysely, sql } from 'kysely'

/**
 * Deduplication of events: its settings, and the keys that events hold for a while. Events by type and by time, and their
 * number, for those who read them over the API; deliveries by event.
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

  // What became of an event: recovery asks it for every event of its range.
  await sql`create index "webhookDeliveries_eventId_endpointId" on "webhookDeliveries" ("eventId", "endpointId")`.execute(
    db,
  )
  // How many events there are to be read, kept by those who stamp and remove them.
  await sql`alter table "eventPosition" add column "total" bigint not null default 0`.execute(db)
  await sql`update "eventPosition" set "total" = (select count(*) from "events" where "position" is not null)`.execute(
    db,
  )

  await sql`create index "events_type_position" on "events" ("type", "position")`.execute(db)
  // Takes the place of the one on the time alone: a range is walked in steps, and many events share a millisecond.
  await sql`create index "events_createdAt_id" on "events" ("createdAt", "id")`.execute(db)
  await sql`drop index "events_createdAt"`.execute(db)
}
