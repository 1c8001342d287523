import { silentLog } from '../../src/infra/log/index.ts'
import { redisQueue } from '../../src/infra/queue/index.ts'
import { openRedis } from '../../src/infra/redis/index.ts'
import { systemClock } from '../../src/lib/clock.ts'

/** A process of its own that takes a job from Redis, says so on stdout, and never ends it. Arguments: see `crash`. */
const [url = '', instanceId = '', lane = '', leaseMs = ''] = process.argv.slice(2)

const redis = await openRedis({ url, log: silentLog })
const queue = redisQueue({ redis, clock: systemClock, log: silentLog, instanceId, pollMs: 100 })
queue.work(lane, { concurrency: 1, leaseMs: Number(leaseMs) }, (subject) => {
  process.stdout.write(`running ${subject}\n`)
  return new Promise(() => {})
})
