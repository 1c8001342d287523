import { expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { databases, describeEachDatabase } from '../../../test/kit/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { describeRedis } from '../../../test/kit/redis.ts'
import { syncService } from '../../../test/kit/sync.ts'
import { memoryBus, openRedisBus } from '../../infra/bus/index.ts'
import type { Db } from '../../infra/db/index.ts'
import { databaseLanes as databaseQueue, redisLanes as redisQueue } from '../../infra/lanes/index.ts'
import { silentLog } from '../../infra/log/index.ts'
import { systemClock } from '../../lib/clock.ts'
import { idGenerator } from '../../lib/ids.ts'
import { syncLane } from './deps.ts'
import { strayLanes } from './stray-lanes.ts'

describeEachDatabase('the sync lanes of instances that are no more', (open) => {
  it('are dropped, and no others', async () => {
    const db = await open()
    const bus = memoryBus({ log: silentLog })
    const shared = { db, bus, clock: systemClock, ids: idGenerator(systemClock), log: silentLog }
    const queue = closing(databaseQueue({ ...shared, instanceId: 'ins_me' }))
    await db.transaction((tx) =>
      tx.insertInto('instances').values({ id: 'ins_living', heartbeatAt: 1, startedAt: 1 }).execute(),
    )
    const lanes = [
      'deliver',
      syncLane('ins_living'),
      syncLane('ins_me'),
      syncLane('ins_gone'),
      syncLane('ins_long_gone'),
    ]
    for (const lane of lanes) await queue.add(lane, 'acc_1', { delayMs: 60_000 })
    const strays = strayLanes({ db, queue, log: silentLog, instanceId: 'ins_me' })
    await strays.sweep()
    expect(await queue.lanes('')).toEqual(['deliver', syncLane('ins_living'), syncLane('ins_me')])
    await strays.stop()
  })
})

describeRedis('an instance that stops while Redis is away', (redis) => {
  const open = databases('sqlite')

  async function service(db: Db, instanceId: string) {
    const link = await redis.link()
    const bus = await openRedisBus({ redis: link, log: silentLog })
    const queue = redisQueue({ redis: link, clock: systemClock, log: silentLog, instanceId, pollMs: 100 })
    const made = syncService(db, { instanceId, bus, queue, owning: { soleProcess: false } })
    closing({ close: () => made.stop() })
    await made.start()
    // Nobody owns it: it runs, does nothing and stays in the lane.
    await queue.add(syncLane(instanceId), 'acc_1')
    await eventually(async () => {
      expect(await queue.find(syncLane(instanceId), 'acc_1')).toMatchObject({ state: 'idle' })
    })
    return made
  }

  it('leaves a lane that another drops as soon as Redis answers again', async () => {
    const db = await open()
    const [staying, leaving] = [await service(db, 'ins_staying'), await service(db, 'ins_leaving')]
    const lanes = () => staying.queue.lanes('sync:')
    expect(await lanes()).toEqual(['sync:ins_leaving', 'sync:ins_staying'])
    // Frozen, not stopped: it comes back with everything it knew, and connections that broke.
    redis.server.freeze()
    await leaving.stop()
    redis.server.thaw()
    const link = await redis.link()
    expect(await lanes()).toContain('sync:ins_leaving')
    await link.commands.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await eventually(async () => expect(await lanes()).toEqual(['sync:ins_staying']))
  })
})
