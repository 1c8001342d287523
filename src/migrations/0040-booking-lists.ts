import { type Kysely, sql } from 'kysely'

/** What bookings are listed by besides their start: guest and host. */
export const name = '0040-booking-lists'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`alter table "bookings" add column "guestEmail" text not null default ''`,
    sql`create index "bookings_guest" on "bookings" ("guestEmail", "startMs", "id")`,
    sql`create table "bookingAssignments" (
      "bookingId" text not null,
      "hostId" text not null,
      "startMs" bigint not null,
      primary key ("bookingId", "hostId"))`,
    sql`create index "bookingAssignments_host" on "bookingAssignments" ("hostId", "startMs", "bookingId")`,
  ])
    await statement.execute(db)
}
