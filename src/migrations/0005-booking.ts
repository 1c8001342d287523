import { type Kysely, sql } from 'kysely'

/** Experiences and their bookings, what blocks their hosts, and what strangers may do. */
export const name = '0005-booking'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    // Booking flows: form, slots, hosts and callbacks as JSON, secrets sealed. Written by the API. Never deleted, only
    // deactivated, because bookings refer to them.
    sql`create table "experiences" (
      "id" text not null primary key,
      "slug" text not null unique,
      "name" text not null,
      "description" text not null,
      "timezone" text not null,
      "isActive" integer not null,
      "definition" text not null,
      "secrets" text not null,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,

    // Bookings of guests. Written by the booking itself, by decisions of the application, and by changes in the
    // calendars of hosts, each with its event and its tasks in one transaction. Rows are deleted a year after the
    // booking ended, and when the account of its only host is erased.
    sql`create table "bookings" (
      "id" text not null primary key,
      "experienceId" text not null,
      "experienceSlug" text not null,
      "requestKey" text unique,
      "status" text not null,
      "startMs" bigint not null,
      "endMs" bigint not null,
      "slot" text not null,
      "given" text not null,
      "guestEmail" text not null default '',
      "hosts" text not null,
      "eventId" text,
      "joinUrl" text,
      "reason" text,
      "isReasonInternal" integer not null default 0,
      "cancelledBy" text,
      "calendarState" text not null,
      "calendarError" text,
      "sequence" integer not null,
      "linkSecret" text not null,
      "verifiedBy" text,
      "mailCharge" text,
      "version" integer not null,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create index "bookings_experience" on "bookings" ("experienceId", "startMs", "id")`,
    sql`create index "bookings_start" on "bookings" ("startMs", "id")`,
    sql`create index "bookings_guest" on "bookings" ("guestEmail", "startMs", "id")`,
    sql`create index "bookings_status" on "bookings" ("status", "startMs", "id")`,

    // Who hosts a booking, for lists by host. Written with the booking. Rows are deleted with it or with the account.
    sql`create table "bookingAssignments" (
      "bookingId" text not null,
      "hostId" text not null,
      "startMs" bigint not null,
      primary key ("bookingId", "hostId"))`,
    sql`create index "bookingAssignments_host" on "bookingAssignments" ("hostId", "startMs", "bookingId")`,

    // The event of a booking in the calendar of each host. Written before the event is created, with the number that
    // makes its key at the provider, so that a repeated attempt creates nothing twice. Deleted with the event or the
    // booking.
    sql`create table "bookingEvents" (
      "bookingId" text not null,
      "hostId" text not null,
      "calendarId" text not null,
      "eventId" text not null,
      primary key ("bookingId", "hostId"))`,
    sql`create index "bookingEvents_event" on "bookingEvents" ("eventId")`,

    // When a host is taken, by a booking or a hold. Written under the locks of `bookingHosts`, so that no two overlap.
    // Rows are deleted when the booking ends or moves, with a hold, and with the account.
    sql`create table "bookingBlocks" (
      "ownerId" text not null,
      "hostId" text not null,
      "experienceId" text not null,
      "startMs" bigint not null,
      "endMs" bigint not null,
      "blockedFrom" bigint not null,
      "blockedTo" bigint not null,
      "day" text not null,
      "expiresAt" bigint,
      primary key ("ownerId", "hostId"))`,
    sql`create index "bookingBlocks_host" on "bookingBlocks" ("hostId", "blockedTo", "blockedFrom")`,
    sql`create index "bookingBlocks_day" on "bookingBlocks" ("experienceId", "day", "hostId")`,

    // Slots that guests keep while they fill in the form. Written by the request that holds the slot, deleted by the
    // booking that uses it. What remains is deleted an hour after it expired, because it counts against its client
    // until then.
    sql`create table "bookingHolds" (
      "id" text not null primary key,
      "experienceId" text not null,
      "slot" text not null,
      "client" text,
      "startMs" bigint,
      "endMs" bigint,
      "expiresAt" bigint not null)`,
    sql`create index "bookingHolds_expiresAt" on "bookingHolds" ("expiresAt")`,
    sql`create index "bookingHolds_client" on "bookingHolds" ("client", "expiresAt") where "client" is not null`,

    // One row per host that was ever booked, only to lock it while its blocks are checked and changed. Erased with the
    // account.
    sql`create table "bookingHosts" (
      "hostId" text not null primary key)`,

    // Tasks still to be done for a booking: callbacks, calendar events, messages, reminders. Written with the change
    // that needs it; the worker that holds the lease records the result. Rows are deleted with their booking.
    sql`create table "bookingTasks" (
      "id" text not null primary key,
      "bookingId" text not null,
      "type" text not null,
      "subject" text not null,
      "status" text not null,
      "attempts" integer not null,
      "lastError" text,
      "dueAt" bigint,
      "giveUpAt" bigint not null,
      "lease" text,
      "leasedUntil" bigint,
      "createdAt" bigint not null,
      "updatedAt" bigint not null,
      unique ("bookingId", "type", "subject"))`,
    sql`create index "bookingTasks_due" on "bookingTasks" ("dueAt", "bookingId") where "dueAt" is not null`,
    sql`create index "bookingTasks_status" on "bookingTasks" ("status", "id")`,
    sql`create index "bookingTasks_type" on "bookingTasks" ("type", "id")`,

    // Codes that guests enter to prove that they read the mail of an address, stored as hashes. The request that sends
    // the code writes the row, the booking that contains it deletes it. Retention deletes expired rows.
    sql`create table "bookingCodes" (
      "id" text not null primary key,
      "guest" text not null,
      "client" text not null,
      "code" text not null,
      "attempts" integer not null,
      "unboundAttempts" integer not null,
      "mailCharge" text,
      "expiresAt" bigint not null)`,
    sql`create index "bookingCodes_guest" on "bookingCodes" ("guest", "client")`,
    sql`create index "bookingCodes_expiresAt" on "bookingCodes" ("expiresAt")`,

    // Hashes of addresses that were verified for a host, whose messages are not limited. Written when a guest is
    // verified, renewed with each use. Rows are deleted a year after the last one.
    sql`create table "knownGuests" (
      "id" text not null primary key,
      "seenAt" bigint not null)`,
    sql`create index "knownGuests_seenAt" on "knownGuests" ("seenAt")`,

    // Budgets that strangers have used up, per client, experience, account and mailbox. Locked while a message
    // or a hold is counted. Rows are deleted when nothing in them counts any more.
    sql`create table "guestCounters" (
      "scope" text not null primary key,
      "spent" text not null,
      "expiresAt" bigint not null)`,
    sql`create index "guestCounters_expiresAt" on "guestCounters" ("expiresAt")`,

    // When an experience last refused a guest because a budget was used up, for the portal and for one event per day.
    // Written by the refused request. One row per experience, which stays.
    sql`create table "mailLimits" (
      "experienceId" text not null primary key,
      "kind" text not null,
      "refused" integer not null,
      "limitedAt" bigint not null,
      "version" integer not null)`,
  ]) {
    await statement.execute(db)
  }
}
