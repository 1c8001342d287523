import { openRedisBus } from '../../src/infra/bus/index.ts'
import { silentLog } from '../../src/infra/log/index.ts'
import { openRedisQueue } from '../../src/infra/queue/index.ts'
import { openRedis } from '../../src/infra/redis/index.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { idGenerator } from '../../src/lib/ids.ts'

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
