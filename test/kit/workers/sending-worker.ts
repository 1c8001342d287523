/**
 * A process that sends what the outbox of a database contains, until it is killed. Prints `started`. Arguments: data folder, database
 * URL or '', URL of Redis or '', lease of its claims in ms, settings in JSON.
 */

import { openDatabase } from '../database/open-database.ts'
import { openOnRedis } from '../database/redis-parts.ts'
import { compose } from '../service/composition.ts'

const [dataDir = '', databaseUrl = '', redisUrl = '', leaseMs = '1000', settings = '{}'] = process.argv.slice(2)
const db = openDatabase({ dataDir, databaseUrl })
const { features } = compose(db, {
  ...(redisUrl !== '' && (await openOnRedis(redisUrl)).parts),
  settings: JSON.parse(settings),
  features: {
    outbox: {
      searchPausesMs: [0, 100],
      retry: { baseMs: 50, capMs: 500 },
      leaseMs: Number(leaseMs),
      sweepMs: 200,
      // Less than some replies take.
      hungMs: 15,
    },
  },
})
await features.sender.start()
process.stdout.write('started\n')
