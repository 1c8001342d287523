import { type Kysely, sql } from 'kysely'

/** The JSON that lists return of each message. Filled by changes and by lists, so that the migration reads no messages. */
export const name = '0011-message-texts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "messageTexts" ("messageId" text not null primary key, "folderId" text, "text" text not null)`.execute(
    db,
  )
}
