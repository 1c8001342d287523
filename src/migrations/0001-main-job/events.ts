import { sql } from 'kysely'
import type { Schema } from './schema.ts'

/** Events, and the counters that number them. */
export async function events({ table, index, run }: Schema): Promise<void> {
  await table(
    'events',
    [
      ['id', 'text'],
      ['type', 'text'],
      ['accountId', 'text', 'null'],
      ['provider', 'text', 'null'],
      ['sequence', 'bigint', 'null'],
      ['objectId', 'text', 'null'],
      ['version', 'bigint', 'null'],
      ['data', 'text'],
      ['position', 'bigint', 'null'],
      ['fanOut', 'integer', 'default 1'],
      ['createdAt', 'bigint'],
    ],
    ['id'],
  )
  await index('events', ['id'], { where: '"position" is null' })
  await index('events', ['position'], { unique: true, where: '"position" is not null' })
  await index('events', ['accountId', 'position'])
  await index('events', ['createdAt'])
  await table(
    'eventSequences',
    [
      ['accountId', 'text'],
      ['sequence', 'bigint'],
    ],
    ['accountId'],
  )
  await table(
    'eventPosition',
    [
      ['id', 'integer'],
      ['position', 'bigint'],
    ],
    ['id'],
  )
  await run(sql`insert into "eventPosition" ("id", "position") values (1, 0)`)
}
