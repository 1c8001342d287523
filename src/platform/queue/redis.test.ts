import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { type Databases, databases } from '../../../test/kit/database/database.ts'
import { describeRedis, type RedisOfSuite } from '../../../test/kit/database/redis.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { startWorker } from '../../../test/kit/workers/start.ts'
import { idGenerator } from '../ids.ts'
import { silentLog } from '../log/index.ts'
import { systemClock } from '../time/clock.ts'
import { describeQueue, type QueueWorld } from './conformance/queue.ts'
import { alone, gated, record, two } from './conformance/world.ts'
import { redisQueue } from './redis.ts'

describeRedis('the queue in Redis', (redis) => {
  const open = databases('sqlite')
  const world = () => makeWorld(redis, open)
  describeQueue('it', world)

  it('runs jobs in this process while Redis is away, and hands them over when it is back', async () => {
    const { one, other } = await two(world)
    const runs: string[] = []
    let failures = 2
    one.work('queue', { concurrency: 2 }, async (key) => {
      runs.push(key)
      if (key === 'failing' && failures-- > 0) throw new Error('not yet')
      return key === 'often' && runs.length < 20 ? { nextRunInMs: 10 } : undefined
    })
    await redis.server.stop()
    await one.add('queue', 'failing')
    await eventually(() => expect(runs).toEqual(['failing', 'failing', 'failing']))
    await one.add('queue', 'often')
    await eventually(() => expect(runs).toHaveLength(20))
    await one.add('queue', 'later', { delayMs: 1500 })
    await one.add('elsewhere', 'x')
    const seen: string[] = []
    other.work('elsewhere', { concurrency: 1 }, async (key) => {
      seen.push(key)
      return undefined
    })
    await redis.server.start()
    await eventually(() => expect(seen).toEqual(['x']))
    await eventually(() => expect(runs).toContain('later'))
  })

  it('finishes a run during which Redis came back empty, and runs the job again when it is added', async () => {
    const { one, other } = await two(world)
    const gate = gated(one)
    await one.add('queue', 'a')
    await eventually(() => expect(gate.running).toEqual(['a']))
    await redis.server.stop()
    await redis.server.start()
    await eventually(() => one.ping())
    await one.add('queue', 'a')
    gate.open()
    await eventually(() => expect(gate.started).toEqual(['a', 'a']))
    const seen = record(other)
    await gate.worker.stop(1000)
    await one.add('queue', 'b')
    await eventually(() => expect(seen.keys).toEqual(['b']))
  })

  it('never runs a key twice at once in one process, however often Redis fails', async () => {
    const { queue } = await alone(world)
    let running = 0
    let most = 0
    let runs = 0
    queue.work('queue', { concurrency: 5 }, async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running -= 1
      runs += 1
      return { nextRunInMs: 1 }
    })
    const more = setInterval(() => void queue.add('queue', 'a'), 5)
    onTestFinished(() => clearInterval(more))
    await queue.add('queue', 'a')
    for (let round = 0; round < 3; round += 1) {
      const before = runs
      await eventually(() => expect(runs).toBeGreaterThan(before + 10))
      await redis.server.stop()
      const away = runs
      await eventually(() => expect(runs).toBeGreaterThan(away + 10))
      await redis.server.start()
      await eventually(() => queue.ping())
    }
    expect(most).toBe(1)
  })

  it('rejects in time when the server hangs', async () => {
    const { queue } = await alone(world)
    const seen = record(queue)
    await queue.add('queue', 'a')
    await eventually(() => expect(seen.keys).toEqual(['a']))
    redis.server.freeze()
    await queue.add('queue', 'b')
    await eventually(() => expect(seen.keys).toEqual(['a', 'b']))
    redis.server.thaw()
    await eventually(() => queue.ping())
    await queue.add('queue', 'c')
    await eventually(() => expect(seen.keys).toContain('c'))
  })

  it('stops and closes while Redis is away', async () => {
    const { queue } = await alone(world)
    const gate = gated(queue)
    await queue.add('queue', 'a')
    await eventually(() => expect(gate.running).toEqual(['a']))
    await redis.server.stop()
    gate.open()
    await gate.worker.stop(1000)
    await queue.close()
    await redis.server.start()
  })

  it('rejects a ping while Redis is away', async () => {
    const { queue } = await alone(world)
    await redis.server.stop()
    await eventually(() => expect(queue.ping()).rejects.toThrow())
    await redis.server.start()
    await eventually(() => queue.ping())
  })

  it('retains no memory of finished runs', async () => {
    const { queue } = await alone(world)
    let runs = 0
    queue.work('queue', { concurrency: 50 }, async () => {
      runs += 1
      return undefined
    })
    const run = async (count: number) => {
      const before = runs
      for (let added = 0; added < count; added += 500) {
        await Promise.all(Array.from({ length: 500 }, (_, index) => queue.add('queue', `k${added + index}`)))
        await eventually(() => expect(runs).toBe(before + added + 500), undefined, 2)
      }
    }
    await run(2000)
    const beforeBytes = liveBytes()
    await run(RUNS)
    expect((liveBytes() - beforeBytes) / RUNS).toBeLessThan(150)
  })
})

const RUNS = 6000

/** Bytes in use after collecting garbage. */
function liveBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

async function makeWorld(redis: RedisOfSuite, open: Databases): Promise<QueueWorld> {
  await redis.empty()
  return {
    db: await open(),
    async join(_instanceId, stalledMs = 100) {
      const link = await redis.link()
      const backoff = { baseMs: 20, capMs: 100 }
      const ids = idGenerator(systemClock)
      const queue = redisQueue({ redis: link, clock: systemClock, ids, log: silentLog, stalledMs, backoff })
      onTestFinished(() => queue.close())
      return queue
    },
    crash: (_instanceId, queue, leaseMs) => crash(redis.server.url, queue, leaseMs),
    stored: (queue) => storedKeys(redis.server.url, queue),
  }
}

/** Every Redis key that belongs to a job. BullMQ's keys of the queue itself always exist. */
async function storedKeys(url: string, queue: string): Promise<string[]> {
  const connection = new Redis(url)
  const keys = await connection.keys(`posthorn:bull:${encodeURIComponent(queue)}:*`)
  connection.disconnect()
  return keys.filter((key) => !/:(id|meta|events|marker|stalled|stalled-check)$/.test(key))
}

async function crash(url: string, queue: string, leaseMs: number): Promise<void> {
  const child = startWorker('crashing-redis-worker', [url, queue, String(leaseMs)])
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}
