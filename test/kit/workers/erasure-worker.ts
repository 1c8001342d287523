/**
 * Erases deleted accounts until none is left, or kills itself (SIGKILL) in the transaction of the given step.
 * Arguments: the database as JSON, the instance name, the step to die in (0: none), the instance that died before.
 */

import { erasure } from '../../../src/accounts/index.ts'
import { erasures } from '../../../src/app/feature-list.ts'
import type { Erase } from '../../../src/feature.ts'
import { memoryBus } from '../../../src/platform/bus/index.ts'
import { idGenerator } from '../../../src/platform/ids.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import { databaseQueue } from '../../../src/platform/queue/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'
import type { Place } from '../database/database.ts'
import { openDatabase } from '../database/open-database.ts'
import { eventually } from '../eventually.ts'

const [placeText = '{}', instanceId = '', dieIn = '0', dead = ''] = process.argv.slice(2)
const place: Place = JSON.parse(placeText)
const db = openDatabase(place)
const log = silentLog
const deps = { db, bus: memoryBus({ log }), clock: systemClock, ids: idGenerator(systemClock), log }
const queue = databaseQueue({ ...deps, instanceId })
if (dead !== '') await queue.releaseInstance(dead)

let steps = 0
const dyingAtStep =
  (erase: Erase): Erase =>
  async (tx, accountId, limit) => {
    const rows = await erase(tx, accountId, limit)
    steps += 1
    if (steps === Number(dieIn)) process.kill(process.pid, 'SIGKILL')
    return rows
  }
const erasing = erasure({
  db,
  queue,
  clock: systemClock,
  log,
  erase: erasures.map(dyingAtStep),
  forget: async () => {},
})
await erasing.start()
await eventually(async () => (await db.read.selectFrom('accountErasures').selectAll().execute()).length === 0)
await erasing.stop()
await queue.close()
await db.close()
