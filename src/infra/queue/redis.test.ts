import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { type Databases, databases } from '../../../test/kit/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { describeRedis, type RedisOfSuite } from '../../../test/kit/redis.ts'
import { systemClock } from '../../lib/clock.ts'
import { silentLog } from '../log/index.ts'
import { alone, held, record, two } from './conformance/world.ts'
import { describeQueue, type QueueWorld } from './conformance.ts'
import { redisQueue } from './redis.ts'

describeRedis('the queue in Redis', (redis) => {
  const open = databases('sqlite')
  const world = () => makeWorld(redis, open)
  describeQueue('it', world)

  it('runs what this process asks for while Redis is away, and hands over when it is back', async () => {
    const { one, other } = await two(world)
    const runs: string[] = []
    let failures = 2
    one.work('lane', { concurrency: 2 }, async (subject, { attempts }) => {
      runs.push(`${subject} ${attempts}`)
      if (subject === 'failing' && failures-- > 0) throw new Error('not yet')
      return subject === 'often' && runs.length < 20 ? { nextRunInMs: 10 } : undefined
    })
    await redis.server.stop()
    await one.add('lane', 'failing')
    await eventually(() => expect(runs).toEqual(['failing 0', 'failing 1', 'failing 2']))
    await one.add('lane', 'often')
    await eventually(() => expect(runs).toHaveLength(20))
    await one.add('lane', 'later', { delayMs: 1500 })
    await one.add('elsewhere', 'x')
    const seen: string[] = []
    other.work('elsewhere', { concurrency: 1 }, async (subject) => {
      seen.push(subject)
      return undefined
    })
    await redis.server.start()
    await eventually(() => expect(seen).toEqual(['x']))
    expect(await one.find('lane', 'later')).toMatchObject({ state: 'waiting' })
    await eventually(() => expect(runs).toContain('later 0'))
  })

  it('ends a run that was under way when Redis went and came back empty, and runs the subject again when asked', async () => {
    const { one, other } = await two(world)
    const gate = held(one)
    await one.add('lane', 'a')
    await eventually(() => expect(gate.running).toEqual(['a']))
    await redis.server.stop()
    await redis.server.start()
    await eventually(() => one.ping())
    await one.add('lane', 'a')
    gate.open()
    await eventually(() => expect(gate.started).toEqual(['a', 'a']))
    await eventually(async () => expect(await one.find('lane', 'a')).toMatchObject({ state: 'idle' }))
    const seen = record(other)
    await gate.worker.stop(1000)
    await one.add('lane', 'b')
    await eventually(() => expect(seen.subjects).toEqual(['b']))
  })

  it('never runs a subject twice at a time in one process, however often Redis goes', async () => {
    const { queue } = await alone(world)
    let running = 0
    let most = 0
    let runs = 0
    queue.work('lane', { concurrency: 5 }, async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 5))
      running -= 1
      runs += 1
      return { nextRunInMs: 1 }
    })
    const more = setInterval(() => void queue.add('lane', 'a'), 5)
    onTestFinished(() => clearInterval(more))
    await queue.add('lane', 'a')
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

  it('does not hang on a server that hangs', async () => {
    const { queue } = await alone(world)
    const seen = record(queue)
    await queue.add('lane', 'a')
    await eventually(() => expect(seen.subjects).toEqual(['a']))
    redis.server.freeze()
    await queue.add('lane', 'b')
    await eventually(() => expect(seen.subjects).toEqual(['a', 'b']))
    await expect(queue.stats('lane')).rejects.toThrow()
    redis.server.thaw()
    await eventually(() => queue.ping())
    await queue.add('lane', 'c')
    await eventually(() => expect(seen.subjects).toContain('c'))
  })

  it('stops and closes while Redis is away', async () => {
    const { queue } = await alone(world)
    const gate = held(queue)
    await queue.add('lane', 'a')
    await eventually(() => expect(gate.running).toEqual(['a']))
    await redis.server.stop()
    const startedAt = performance.now()
    gate.open()
    await gate.worker.stop(1000)
    await queue.close()
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    await redis.server.start()
  })

  it('says nothing about its state that it cannot know', async () => {
    const { queue } = await alone(world)
    await redis.server.stop()
    await eventually(() => expect(queue.ping()).rejects.toThrow())
    await expect(queue.find('lane', 'a')).rejects.toThrow()
    await expect(queue.stats('lane')).rejects.toThrow()
    await queue.remove('lane', 'a')
    await redis.server.start()
  })
})

async function makeWorld(redis: RedisOfSuite, open: Databases): Promise<QueueWorld> {
  await redis.empty()
  return {
    db: await open(),
    async join(instanceId, pollMs = 100) {
      const link = await redis.link()
      const backoff = { baseMs: 20, capMs: 100 }
      const queue = redisQueue({ redis: link, clock: systemClock, log: silentLog, instanceId, pollMs, backoff })
      onTestFinished(() => queue.close())
      return queue
    },
    crash: (instanceId, lane, leaseMs) => crash(redis.server.url, instanceId, lane, leaseMs),
  }
}

async function crash(url: string, instanceId: string, lane: string, leaseMs: number): Promise<void> {
  const args = ['--import', 'tsx', 'test/kit/crashing-redis-worker.ts', url, instanceId, lane, String(leaseMs)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}
