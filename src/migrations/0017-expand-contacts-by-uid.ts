import { type Kysely, sql } from 'kysely'

/** Adds to the index of UIDs what a list of a group's members is sorted by. */
export const name = '0017-expand-contacts-by-uid'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index "contacts_member" on "contacts" ("bookId", "uid", "sortName", "id")`.execute(db)
  await sql`drop index "contacts_uid"`.execute(db)
}
