import { type Kysely, sql } from 'kysely'

/** Calendars with their events, and the instances of the events in the stored window. */
export const name = '0029-calendars'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`create table "calendars" (
      "id" text not null primary key,
      "accountId" text not null,
      "providerId" text not null,
      "summary" text not null,
      "description" text not null,
      "timeZone" text,
      "backgroundColor" text,
      "foregroundColor" text,
      "role" text not null,
      "isPrimary" integer not null,
      "isSelected" integer not null,
      "cursor" text,
      "round" bigint not null,
      "isComparing" integer not null,
      "windowFrom" bigint not null,
      "windowTo" bigint not null,
      "syncedAt" bigint,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "calendars_accountId_providerId" on "calendars" ("accountId", "providerId")`,
    sql`create table "calendarEvents" (
      "id" text not null primary key,
      "accountId" text not null,
      "calendarId" text not null,
      "providerId" text not null,
      "masterProviderId" text,
      "originalStart" text,
      "status" text not null,
      "isSeries" integer not null,
      "content" text not null,
      "searchText" text not null,
      "round" bigint not null,
      "version" bigint not null,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "calendarEvents_calendarId_providerId" on "calendarEvents" ("calendarId", "providerId")`,
    sql`create index "calendarEvents_masterProviderId" on "calendarEvents" ("calendarId", "masterProviderId")
      where "masterProviderId" is not null`,
    sql`create index "calendarEvents_accountId" on "calendarEvents" ("accountId")`,
    sql`create table "calendarInstances" (
      "eventId" text not null,
      "calendarId" text not null,
      "originalStart" text not null,
      "startMs" bigint not null,
      "endMs" bigint not null,
      "isLong" integer not null,
      primary key ("eventId", "originalStart"))`,
    sql`create index "calendarInstances_start" on "calendarInstances" ("calendarId", "isLong", "startMs")`,
    sql`create index "calendarInstances_end" on "calendarInstances" ("calendarId", "endMs") where "isLong" = 1`,
    sql`create table "calendarListings" (
      "accountId" text not null primary key,
      "listedAt" bigint not null)`,
  ])
    await statement.execute(db)
}
