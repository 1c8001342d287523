import { join } from 'node:path'
import { repeatedEvents } from '../../src/features/deduplication/index.ts'
import { openPostgres, openSqlite } from '../../src/infra/db/index.ts'
import type { Place } from './database.ts'
import { webhookHouse } from './webhooks.ts'

/**
 * A process of its own that fans out what is recorded and stops between the claims and the deliveries, to be killed there.
 * Arguments: the place as JSON, the key ring. Says "claimed" when it has come there.
 */
const [place = '{}', ring = ''] = process.argv.slice(2)
const { dataDir, databaseUrl }: Place = JSON.parse(place)

const db =
  databaseUrl === undefined
    ? openSqlite({ file: join(dataDir, 'posthorn.db'), synchronous: 'NORMAL', onSlowStatement: () => {} })
    : openPostgres({ url: databaseUrl, maxConnections: 4, onError: console.error })
const house = webhookHouse(db, {
  ring,
  instanceId: 'worker',
  async findRepeats(tx, events) {
    const repeats = await repeatedEvents(tx, events)
    if (events.length > 0) {
      process.stdout.write('claimed\n')
      await new Promise(() => setInterval(() => {}, 1000))
    }
    return repeats
  },
})
await house.engine.start()
