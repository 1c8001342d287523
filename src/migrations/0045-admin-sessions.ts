import { type Kysely, sql } from 'kysely'

/** The sign-ins of the portal. */
export const name = '0045-admin-sessions'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`create table "adminSessions" (
      "id" text primary key,
      "username" text not null,
      "createdAt" bigint not null,
      "usedAt" bigint not null)`,
    sql`create index "adminSessions_createdAt" on "adminSessions" ("createdAt")`,
  ])
    await statement.execute(db)
}
