import { describe, expect, it, onTestFinished } from 'vitest'
import type { Cache } from './cache.ts'

export interface CacheWorld {
  cache: Cache
  /** Lets this time pass for the cache. */
  pass(ms: number): Promise<void>
}

/** What every kind of cache does; its test file calls this with how to make a new, empty one. */
export function describeCache(title: string, makeWorld: () => Promise<CacheWorld>): void {
  async function open() {
    const world = await makeWorld()
    onTestFinished(() => world.cache.close())
    return world
  }

  describe(title, () => {
    it('answers what was set, until its time is over', async () => {
      const { cache, pass } = await open()
      await cache.set('a', 'x', 1000)
      await pass(500)
      expect(await cache.get('a')).toBe('x')
      await pass(600)
      expect(await cache.get('a')).toBeUndefined()
    })

    it('knows nothing of keys that were never set', async () => {
      const { cache } = await open()
      expect(await cache.get('a')).toBeUndefined()
    })

    it('takes the latest value and its time', async () => {
      const { cache, pass } = await open()
      await cache.set('a', 'x', 1000)
      await pass(900)
      await cache.set('a', 'y', 1000)
      await pass(900)
      expect(await cache.get('a')).toBe('y')
    })

    it('keeps the empty text and any other', async () => {
      const { cache } = await open()
      await cache.set('a', '', 1000)
      await cache.set('b', 'é \n 会議 "', 1000)
      expect(await cache.get('a')).toBe('')
      expect(await cache.get('b')).toBe('é \n 会議 "')
    })

    it('keeps nothing for no time', async () => {
      const { cache } = await open()
      await cache.set('a', 'x', 1000)
      await cache.set('a', 'y', 0)
      expect(await cache.get('a')).toBeUndefined()
    })

    it('forgets what is deleted, values and counters', async () => {
      const { cache } = await open()
      await cache.set('a', 'x', 1000)
      await cache.increment('b', 1000)
      await cache.delete('a')
      await cache.delete('b')
      await cache.delete('never there')
      expect(await cache.get('a')).toBeUndefined()
      expect(await cache.increment('b', 1000)).toMatchObject({ count: 1 })
    })

    it('counts every increment once, however many come at a time', async () => {
      const { cache } = await open()
      const answers = await Promise.all(Array.from({ length: 100 }, () => cache.increment('a', 1000)))
      const counts = answers.map(({ count }) => count).sort((x, y) => x - y)
      expect(counts).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
    })

    it('ends a counter its time after the first increment, not the last', async () => {
      const { cache, pass } = await open()
      expect(await cache.increment('a', 1000)).toEqual({ count: 1, resetInMs: 1000 })
      await pass(600)
      const { count, resetInMs } = await cache.increment('a', 1000)
      expect(count).toBe(2)
      expect(resetInMs).toBeGreaterThan(0)
      expect(resetInMs).toBeLessThanOrEqual(400)
      await pass(500)
      expect(await cache.increment('a', 1000)).toMatchObject({ count: 1 })
    })

    it('keeps counters apart', async () => {
      const { cache } = await open()
      await cache.increment('a', 1000)
      expect(await cache.increment('b', 1000)).toMatchObject({ count: 1 })
    })

    it('answers a ping, and closes twice', async () => {
      const { cache } = await open()
      await cache.ping()
      await cache.close()
      await cache.close()
    })
  })
}
