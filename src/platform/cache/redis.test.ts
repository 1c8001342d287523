import { expect, it } from 'vitest'
import { describeRedis } from '../../../test/kit/database/redis.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import type { RedisLink } from '../redis/index.ts'
import { describeCache } from './conformance/cache.ts'
import { redisCache } from './redis.ts'

/** Shortens the rest of every key's lifetime. Redis deletes keys without a rest. */
async function age({ commands }: RedisLink, ms: number): Promise<void> {
  for (const key of await commands.keys('*')) await commands.pexpire(key, (await commands.pttl(key)) - ms)
}

describeRedis('Redis', (redis) => {
  describeCache('the cache in Redis', async () => {
    await redis.empty()
    const link = await redis.link()
    return { cache: redisCache(link), pass: (ms) => age(link, ms) }
  })

  it('counts across replicas', async () => {
    await redis.empty()
    const [one, other] = [redisCache(await redis.link()), redisCache(await redis.link())]
    const both = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? one : other).increment('a', 60_000))
    const counts = (await Promise.all(both)).map(({ count }) => count).sort((x, y) => x - y)
    expect(counts).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
  })

  it('finds and stores nothing while Redis is away, and rejects increments', async () => {
    const cache = redisCache(await redis.link())
    await cache.set('a', 'x', 60_000)
    await redis.server.stop()
    await eventually(() => expect(cache.ping()).rejects.toThrow())
    expect(await cache.get('a')).toBeUndefined()
    await cache.set('b', 'y', 60_000)
    await expect(cache.increment('c', 60_000)).rejects.toThrow()
    await expect(cache.delete('a')).rejects.toThrow()
    await redis.server.start()
    await eventually(() => cache.ping())
    expect(await cache.get('b')).toBeUndefined()
  })
})
