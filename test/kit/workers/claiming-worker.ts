import { duplicateFinder, sharedClaims } from '../../../src/events/deduplication/index.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import { openRedis } from '../../../src/platform/redis/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'
import type { Place } from '../database/database.ts'
import { openDatabase } from '../database/open-database.ts'
import { webhookFixture } from '../events/webhooks.ts'

/**
 * A process that fans out recorded events and stops between the claims and the deliveries, where the test kills it.
 * Arguments: the database as JSON, the Redis URL when claims are in Redis. Prints "claimed" when it stops.
 */
const [place = '{}', redisUrl] = process.argv.slice(2)
const { dataDir, databaseUrl }: Place = JSON.parse(place)

const db = openDatabase({ dataDir, databaseUrl })
const redis = redisUrl === undefined ? undefined : await openRedis({ url: redisUrl, log: silentLog })
const claims = redis && sharedClaims({ redis, clock: systemClock, log: silentLog })
const finder = duplicateFinder({ db, claims })
const fixture = webhookFixture(db, {
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
