import { type Kysely, sql } from 'kysely'

/** Which encryption keys each running instance knows. */
export const name = '0046-instance-keys'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "instanceKeys" (
    "instanceId" text not null primary key,
    "keyIds" text not null)`.execute(db)
}
