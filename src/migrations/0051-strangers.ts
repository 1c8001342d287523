import { type Kysely, sql } from 'kysely'

/** Who a booking's guest is, what messages to people who are not known may cost, and whose holds a slot has. */
export const name = '0051-strangers'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`alter table "bookings" add column "verifiedBy" text`,
    sql`alter table "bookings" add column "mailCharge" text`,
    // Their attendees have the invitation, and get the cancellation too.
    sql`update "bookings" set "verifiedBy" = 'link'`,
    sql`drop table "bookingCodes"`,
    sql`create table "bookingCodes" (
      "id" text primary key,
      "guest" text not null,
      "client" text not null,
      "code" text not null,
      "attempts" integer not null,
      "unboundAttempts" integer not null,
      "mailCharge" text,
      "expiresAt" bigint not null)`,
    sql`create index "bookingCodes_guest" on "bookingCodes" ("guest", "client")`,
    sql`create index "bookingCodes_expiresAt" on "bookingCodes" ("expiresAt")`,
    sql`create table "knownGuests" ("id" text primary key, "seenAt" bigint not null)`,
    sql`create index "knownGuests_seenAt" on "knownGuests" ("seenAt")`,
    sql`create table "guestCounters" ("scope" text primary key, "spent" text not null, "expiresAt" bigint not null)`,
    sql`create index "guestCounters_expiresAt" on "guestCounters" ("expiresAt")`,
    sql`create table "mailLimits" (
      "experienceId" text primary key,
      "kind" text not null,
      "refused" integer not null,
      "limitedAt" bigint not null,
      "version" integer not null)`,
    sql`alter table "bookingHolds" add column "client" text`,
    sql`alter table "bookingHolds" add column "startMs" bigint`,
    sql`alter table "bookingHolds" add column "endMs" bigint`,
    sql`create index "bookingHolds_client" on "bookingHolds" ("client", "expiresAt") where "client" is not null`,
  ]) {
    await statement.execute(db)
  }
}
