import type { Kysely } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import { mailbox } from './0003-mail/mailbox.ts'
import { sending } from './0003-mail/sending.ts'
import { syncing } from './0003-mail/syncing.ts'

/** Messages: those that mailboxes contain, how far they were read, and those that are sent. */
export const name = '0003-mail'

export async function up(db: Kysely<unknown>, engine: Db['engine']): Promise<void> {
  for (const statement of [...mailbox(engine), ...syncing(), ...sending()]) {
    await statement.execute(db)
  }
}
