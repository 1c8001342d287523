import { type Kysely, sql } from 'kysely'

/** The time range whose events are stored, for a setting of the window. */
export const name = '0032-calendar-window'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [column, window] of [
    ['listedFrom', 'windowFrom'],
    ['listedTo', 'windowTo'],
  ]) {
    await sql`alter table "calendars" add column ${sql.ref(`${column}`)} bigint not null default 0`.execute(db)
    await sql`update "calendars" set ${sql.ref(`${column}`)} = ${sql.ref(`${window}`)}`.execute(db)
  }
}
