import { type Kysely, sql } from 'kysely'

/** Calendars, their events, and when these take place within the stored window. */
export const name = '0004-calendars'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    // The calendars of an account, with the cursor of their events and the window that is stored. Written by sync; the
    // API numbers its deletions of events here. An id survives a rename. The row is deleted when the provider no longer
    // lists the calendar, or with the account.
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
      "listedFrom" bigint not null default 0,
      "listedTo" bigint not null default 0,
      "syncedAt" bigint,
      "apiDeletion" bigint not null default 0,
      "unreadable" integer not null default 0,
      "failures" integer not null default 0,
      "failureReason" text,
      "failingSince" bigint,
      "retryAt" bigint,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "calendars_accountId_providerId" on "calendars" ("accountId", "providerId")`,

    // Single events, series and exceptions in the window, as JSON with the columns that lists need. Written by sync,
    // and by the API once the provider has accepted a change. Rows are deleted when the event was deleted, when a full
    // listing finds it outside the window, or with the account.
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
      "startMs" bigint not null default 0,
      "firstMs" bigint,
      "lastMs" bigint,
      "gapMs" bigint not null default -1,
      "round" bigint not null,
      "version" bigint not null,
      "apiChange" bigint not null default 0,
      "confirmations" bigint not null default 0,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "calendarEvents_calendarId_providerId" on "calendarEvents" ("calendarId", "providerId")`,
    sql`create index "calendarEvents_masterProviderId" on "calendarEvents"
      ("calendarId", "masterProviderId") where "masterProviderId" is not null`,
    sql`create index "calendarEvents_accountId" on "calendarEvents" ("accountId")`,
    sql`create index "calendarEvents_round" on "calendarEvents" ("calendarId", "round", "id")`,
    sql`create index "calendarEvents_start" on "calendarEvents"
      ("calendarId", "startMs", "id", "firstMs", "lastMs", "gapMs") where "firstMs" is not null`,
    sql`create index "calendarEvents_updated" on "calendarEvents"
      ("calendarId", "updatedAt", "id", "firstMs", "lastMs", "gapMs") where "firstMs" is not null`,

    // When events take place, in UTC, within the window. Computed from the event in the transaction that stores it, so
    // that no list and no search for free times expands a rule. Rows are deleted with their event.
    sql`create table "calendarInstances" (
      "eventId" text not null,
      "calendarId" text not null,
      "originalStart" text not null,
      "startMs" bigint not null,
      "endMs" bigint not null,
      "isLong" integer not null,
      "isBusy" integer not null default 1,
      "isFloating" integer not null default 0,
      primary key ("eventId", "originalStart"))`,
    sql`create index "calendarInstances_start" on "calendarInstances"
      ("calendarId", "isLong", "startMs", "eventId", "originalStart", "endMs", "isBusy")`,

    // When the calendars of an account were last listed, written by sync. Erased with the account.
    sql`create table "calendarListings" (
      "accountId" text not null primary key,
      "listedAt" bigint not null)`,

    // Push subscriptions to events, one per calendar, or one per account at Graph. Written by the owner under the
    // epoch; a notification sets `isNotified` until a sync has begun. Rows are deleted with the calendar or the
    // account.
    sql`create table "calendarSubscriptions" (
      "accountId" text not null,
      "calendarId" text not null,
      "provider" text not null,
      "subscriptionId" text not null,
      "target" text not null,
      "clientStateHash" text not null,
      "expiresAt" bigint not null,
      "renewAt" bigint not null,
      "isNotified" integer not null,
      primary key ("accountId", "calendarId"))`,
    sql`create index "calendarSubscriptions_subscriptionId" on "calendarSubscriptions" ("subscriptionId")`,
    sql`create index "calendarSubscriptions_notified" on "calendarSubscriptions" ("accountId") where "isNotified" = 1`,

    // Events that could not be read, so that they cost nothing but themselves. Written by sync, at most 1,000 per
    // calendar. The row is deleted when the event was read or no longer exists.
    sql`create table "unreadableEvents" (
      "calendarId" text not null,
      "providerId" text not null,
      "reason" text not null,
      "round" integer not null,
      "failures" integer not null default 0,
      "nextAttemptAt" bigint,
      "foundAt" bigint not null,
      primary key ("calendarId", "providerId"))`,
  ]) {
    await statement.execute(db)
  }
}
