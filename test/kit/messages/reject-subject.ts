import { sql } from 'kysely'
import type { Db } from '../../../src/platform/db/index.ts'

/** Makes inserts of messages with this subject fail, by a trigger. */
export async function rejectSubject(db: Db, subject: string): Promise<void> {
  await db.transaction(async (tx) => {
    if (db.engine === 'sqlite') {
      await sql`create trigger refuse before insert on messages when new.subject = ${sql.lit(subject)}
        begin select raise(abort, 'no such subject'); end`.execute(tx)
      return
    }
    await sql`create function refuse() returns trigger language plpgsql as ${sql.raw(
      `$$ begin if new.subject = '${subject}' then raise exception 'no such subject'; end if; return new; end $$`,
    )}`.execute(tx)
    await sql`create trigger refuse before insert on messages for each row execute function refuse()`.execute(tx)
  })
}
