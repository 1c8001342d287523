import { expect, it, onTestFinished } from 'vitest'
import { describeRedis } from '../../../test/kit/database/redis.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { describeBus, watchedLog } from './conformance/bus.ts'
import { openRedisBus } from './redis.ts'

describeRedis('Redis', (redis) => {
  const open = async (log = watchedLog()) => openRedisBus({ redis: await redis.link(), log })

  describeBus('the bus over PUBLISH', { isShared: true }, async () => async (log) => {
    return openRedisBus({ redis: await redis.link(), log })
  })

  it('delivers inside the process while Redis is away, warns, and calls every listener once after a reconnect', async () => {
    const [first, second] = [await open(), await open()]
    onTestFinished(async () => void (await Promise.all([first.close(), second.close()])))
    const heard: string[] = []
    first.subscribe('a', (payload) => heard.push(`here ${payload}`))
    second.subscribe('a', (payload) => heard.push(`there ${payload}`))
    await redis.server.stop()
    await eventually(() => expect(first.ping()).rejects.toThrow('not subscribed'))
    first.publish('a', 'x')
    await eventually(() => expect(heard).toEqual(['here x']))
    await redis.server.start()
    await eventually(() => expect(heard.toSorted()).toEqual(['here undefined', 'here x', 'there undefined']))
    await Promise.all([first.ping(), second.ping()])
    first.publish('a', 'y')
    await eventually(() => expect(heard).toContain('there y'))
  })

  it('closes while Redis is away', async () => {
    const bus = await open()
    await redis.server.stop()
    await bus.close()
    await expect(bus.ping()).rejects.toThrow('not subscribed')
    await redis.server.start()
  })
})
