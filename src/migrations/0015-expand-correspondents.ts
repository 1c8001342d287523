import { type Kysely, sql } from 'kysely'

/** People with whom an account has exchanged messages. */
export const name = '0015-expand-correspondents'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    // Learnt from stored messages by a pass over their ids, whose cursor is in `serviceState`. Rows are deleted with the account.
    sql`create table "correspondents" (
      "id" text not null primary key,
      "accountId" text not null,
      "email" text not null,
      "displayName" text not null,
      "sortName" text not null,
      "searchText" text not null,
      "sent" bigint not null,
      "received" bigint not null,
      "lastAt" bigint not null,
      "createdAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create unique index "correspondents_accountId_email" on "correspondents" ("accountId", "email")`,
    sql`create index "correspondents_name" on "correspondents" ("accountId", "sortName", "id", "searchText")`,
  ]) {
    await statement.execute(db)
  }
}
