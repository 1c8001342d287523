import { randomUUID } from 'node:crypto'
import type { Place } from '../database/database.ts'
import { openDatabase } from '../database/open-database.ts'
import { webhookFixture } from '../events/webhooks.ts'

/**
 * A process that records events and delivers them until it is killed. Arguments: the database as JSON, the
 * lease in milliseconds. Prints "ready" when it has recorded the first ones.
 */
const [place = '{}', leaseMs = ''] = process.argv.slice(2)
const { dataDir, databaseUrl }: Place = JSON.parse(place)

const db = openDatabase({ dataDir, databaseUrl })
const fixture = webhookFixture(db, { leaseMs: Number(leaseMs), instanceId: 'worker' })
// The previous process of this name is dead. The service learns that from heartbeats.
await fixture.queue.releaseInstance('worker')
await fixture.engine.start()
for (let isFirst = true; ; isFirst = false) {
  const objectId = randomUUID()
  await fixture.record({ objectId }, { objectId }, { objectId })
  if (isFirst) process.stdout.write('ready\n')
  await new Promise((resolve) => setTimeout(resolve, 5))
}
