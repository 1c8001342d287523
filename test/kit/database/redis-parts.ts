import { openRedisBus } from '../../../src/platform/bus/index.ts'
import { idGenerator } from '../../../src/platform/ids.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import { openRedisQueue } from '../../../src/platform/queue/index.ts'
import { openRedis } from '../../../src/platform/redis/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'

/** The parts of a composition that a service with REDIS_URL has on Redis. Close the composition, then the link. */
export async function openOnRedis(url: string) {
  const log = silentLog
  const link = await openRedis({ url, log })
  const queue = await openRedisQueue({
    redis: link,
    clock: systemClock,
    ids: idGenerator(systemClock),
    log,
    stalledMs: 300,
  })
  return { link, parts: { queue, bus: await openRedisBus({ redis: link, log }) } }
}
