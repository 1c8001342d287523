import { type Kysely, sql } from 'kysely'

/** What lists are filtered by, so that no page reads a whole table. */
export const name = '0047-lists'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`create index "accounts_list" on "accounts" ("id", "email", "customUserId", "status", "paused", "provider")`,
    sql`create index "auditEntries_target" on "auditEntries" ("target", "at", "id") where "target" is not null`,
    sql`create index "bookings_status" on "bookings" ("status", "startMs", "id")`,
    sql`create index "bookingTasks_type" on "bookingTasks" ("type", "id")`,
    sql`create index "backfills_statusList" on "backfills" ("status", "accountId")`,
  ])
    await statement.execute(db)
}
