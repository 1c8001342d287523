import { idGenerator } from '../../../src/platform/ids.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import { redisQueue } from '../../../src/platform/queue/redis.ts'
import { openRedis } from '../../../src/platform/redis/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'

/** A process that starts a job from Redis, prints its key and never finishes it. Arguments: see `crash`. */
const [url = '', queueName = '', leaseMs = ''] = process.argv.slice(2)

const redis = await openRedis({ url, log: silentLog })
const queue = redisQueue({ redis, clock: systemClock, ids: idGenerator(systemClock), log: silentLog, stalledMs: 100 })
queue.work(queueName, { concurrency: 1, leaseMs: Number(leaseMs) }, (key) => {
  process.stdout.write(`running ${key}\n`)
  return new Promise(() => {})
})
