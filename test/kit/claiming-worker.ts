import { join } from 'node:path'
import { duplicateFinder, sharedClaims } from '../../src/features/deduplication/index.ts'
import { openPostgres, openSqlite } from '../../src/infra/db/index.ts'
import { silentLog } from '../../src/infra/log/index.ts'
import { openRedis } from '../../src/infra/redis/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Place } from './database.ts'
import { webhookFixture } from './webhooks.ts'

/**
 * A process that fans out recorded events and stops between the claims and the deliveries, where the test kills it.
 * Arguments: the database as JSON, the key ring, the Redis URL when claims are in Redis. Prints "claimed" when it stops.
 */
const [place = '{}', ring = '', redisUrl] = process.argv.slice(2)
const { dataDir, databaseUrl }: Place = JSON.parse(place)

const db =
  databaseUrl === undefined
    ? openSqlite({ file: join(dataDir, 'posthorn.db'), synchronous: 'NORMAL', onSlowStatement: () => {} })
    : openPostgres({ url: databaseUrl, maxConnections: 4, onError: console.error })
const redis = redisUrl === undefined ? undefined : await openRedis({ url: redisUrl, log: silentLog })
const claims = redis && sharedClaims({ redis, clock: systemClock, log: silentLog })
const finder = duplicateFinder({ db, claims })
const fixture = webhookFixture(db, {
  ring,
  instanceId: 'worker',
  duplicates: {
    ...finder,
    async find(tx, events) {
      const found = await finder.find(tx, events)
      if (events.length > 0) await stopHere()
      return found
    },
    ...(finder.ask !== undefined && {
      async ask(events) {
        const find = await finder.ask?.(events)
        if (events.length > 0) await stopHere()
        return find ?? finder.find
      },
    }),
  },
})
await fixture.engine.start()

async function stopHere(): Promise<void> {
  process.stdout.write('claimed\n')
  await new Promise(() => setInterval(() => {}, 1000))
}
