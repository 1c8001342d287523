import { type Kysely, sql } from 'kysely'

/** Push subscriptions to the events of calendars. */
export const name = '0037-calendar-subscriptions'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "calendarSubscriptions" (
    "accountId" text not null,
    "calendarId" text not null,
    "provider" text not null,
    "subscriptionId" text not null,
    "target" text not null,
    "clientStateHash" text not null,
    "expiresAt" bigint not null,
    "renewAt" bigint not null,
    "isNotified" integer not null,
    primary key ("accountId", "calendarId"))`.execute(db)
  await sql`create index "calendarSubscriptions_subscriptionId" on "calendarSubscriptions" ("subscriptionId")`.execute(
    db,
  )
  await sql`create index "calendarSubscriptions_notified" on "calendarSubscriptions" ("accountId")
    where "isNotified" = 1`.execute(db)
}
