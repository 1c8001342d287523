import type { Kysely } from 'kysely'
import type { Db } from '../platform/db/index.ts'
import { accounts } from './0001-main-job/accounts.ts'
import { events } from './0001-main-job/events.ts'
import { messages } from './0001-main-job/messages.ts'
import { schema } from './0001-main-job/schema.ts'
import { service } from './0001-main-job/service.ts'
import { webhooks } from './0001-main-job/webhooks.ts'

/**
 * Accounts, messages, events and webhooks. Both engines use the same column types: text for ids and JSON, bigint for times and
 * counters (integer in SQLite), integer for booleans.
 */
export const name = '0001-main-job'

export async function up(db: Kysely<unknown>, engine: Db['engine']): Promise<void> {
  const say = schema(db, engine)
  for (const createTables of [service, accounts, messages, events, webhooks]) await createTables(say)
}
