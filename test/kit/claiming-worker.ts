import { join } from 'node:path'
import { duplicateFinder, sharedClaims } from '../../src/features/deduplication/index.ts'
import { openPostgres, openSqlite } from '../../src/infra/db/index.ts'
import { silentLog } from '../../src/infra/log/index.ts'
import { openRedis } from '../../src/infra/redis/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Place } from './database.ts'
import { webhookHouse } from './webhooks.ts'

/**
 * A process of its own that fans out what is recorded and stops between the claims and the deliveries, to be killed there.
 * Arguments: the place as JSON, the key ring, and the URL of Redis where that holds the keys. Says "claimed" when it has come
 * there.
 */
const [place = '{}', ring = '', redisUrl] = process.argv.slice(2)
const { dataDir, databaseUrl }: Place = JSON.parse(place)

const db =
  databaseUrl === undefined
    ? openSqlite({ file: join(dataDir, 'posthorn.db'), synchronous: 'NORMAL', onSlowStatement: () => {} })
    : openPostgres({ url: databaseUrl, maxConnections: 4, onError: console.error })
const redis = redisUrl === undefined ? undefined : await openRedis({ url: redisUrl, log: silentLog })
const claims = redis && sharedClaims({ redis, clock: systemClock, log: silentLog })
const whole = duplicateFinder({ db, claims })
const house = webhookHouse(db, {
  ring,
  instanceId: 'worker',
  duplicates: {
    ...whole,
    async find(tx, events) {
      const found = await whole.find(tx, events)
      if (events.length > 0) await stopHere()
      return found
    },
    ...(whole.ask !== undefined && {
      async ask(events) {
        const find = await whole.ask?.(events)
        if (events.length > 0) await stopHere()
        return find ?? whole.find
      },
    }),
  },
})
await house.engine.start()

async function stopHere(): Promise<void> {
  process.stdout.write('claimed\n')
  await new Promise(() => setInterval(() => {}, 1000))
}
