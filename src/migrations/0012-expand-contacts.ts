import { type Kysely, sql } from 'kysely'

/** Contacts: address books, contacts, groups, and what could not be read. */
export const name = '0012-expand-contacts'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    // The address books of an account, with the cursor of their contacts. Written by sync; the API numbers its deletions
    // of contacts here. The row is deleted when the provider no longer lists the address book, or with the account.
    sql`create table "contactBooks" (
      "id" text not null primary key,
      "accountId" text not null,
      "providerId" text not null,
      "name" text not null,
      "isWritable" integer not null,
      "isDefault" integer not null,
      "cursor" text,
      "round" bigint not null,
      "isComparing" integer not null,
      "syncedAt" bigint,
      "apiDeletion" bigint not null default 0,
      "contacts" bigint not null default 0,
      "unreadable" integer not null default 0,
      "failures" integer not null default 0,
      "failureReason" text,
      "failingSince" bigint,
      "retryAt" bigint,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "contactBooks_accountId_providerId" on "contactBooks" ("accountId", "providerId")`,

    // Contacts as JSON with the columns that lists need. Written by sync, and by the API once the provider has accepted
    // a change. Rows are deleted with the contact, the address book or the account.
    sql`create table "contacts" (
      "id" text not null primary key,
      "accountId" text not null,
      "bookId" text not null,
      "providerId" text not null,
      "uid" text not null,
      "sortName" text not null,
      "searchText" text not null,
      "content" text not null,
      "round" bigint not null,
      "version" bigint not null,
      "apiChange" bigint not null default 0,
      "confirmations" bigint not null default 0,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "contacts_bookId_providerId" on "contacts" ("bookId", "providerId")`,
    sql`create index "contacts_round" on "contacts" ("bookId", "round", "id")`,
    sql`create index "contacts_uid" on "contacts" ("bookId", "uid")`,
    // A search reads the index alone.
    sql`create index "contacts_name" on "contacts" ("accountId", "sortName", "id", "searchText")`,

    // The addresses and phone numbers of contacts, as the filters compare them. Rows are deleted with the contact.
    sql`create table "contactKeys" (
      "contactId" text not null,
      "kind" text not null,
      "value" text not null,
      "accountId" text not null,
      primary key ("contactId", "kind", "value"))`,
    sql`create index "contactKeys_value" on "contactKeys" ("accountId", "kind", "value", "contactId")`,

    // Groups: those of the provider, and the categories that contacts name. Written with the contacts.
    sql`create table "contactGroups" (
      "id" text not null primary key,
      "accountId" text not null,
      "bookId" text,
      "providerId" text not null,
      "kind" text not null,
      "name" text not null,
      "isWritable" integer not null,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "contactGroups_accountId_providerId" on "contactGroups" ("accountId", "kind", "providerId")`,

    // Who belongs to a group, by the UID of the contact, which may be stored later than the group. Rows are deleted with
    // the contact that names the group, or with the group that lists its members.
    sql`create table "contactGroupMembers" (
      "groupId" text not null,
      "bookId" text not null,
      "memberUid" text not null,
      "accountId" text not null,
      primary key ("groupId", "bookId", "memberUid"))`,
    sql`create index "contactGroupMembers_member" on "contactGroupMembers" ("bookId", "memberUid")`,
    sql`create index "contactGroupMembers_accountId" on "contactGroupMembers" ("accountId")`,

    // When the address books of an account were last listed, written by sync. Erased with the account.
    sql`create table "contactListings" (
      "accountId" text not null primary key,
      "listedAt" bigint not null)`,

    // Contacts that could not be read. Written by sync, at most 1,000 per address book. The row is deleted when the contact
    // was read or no longer exists.
    sql`create table "unreadableContacts" (
      "bookId" text not null,
      "providerId" text not null,
      "reason" text not null,
      "round" integer not null,
      "failures" integer not null default 0,
      "nextAttemptAt" bigint,
      "foundAt" bigint not null,
      primary key ("bookId", "providerId"))`,
  ]) {
    await statement.execute(db)
  }
}
