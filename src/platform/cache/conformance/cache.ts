import { describe, expect, it, onTestFinished } from 'vitest'
import type { Cache } from '../cache.ts'

interface CacheWorld {
  cache: Cache
  /** Lets this much time pass for the cache. */
  pass(ms: number): Promise<void>
}

/** The tests of every cache. `makeWorld` creates a new, empty one. */
export function describeCache(title: string, makeWorld: () => Promise<CacheWorld>): void {
  async function open() {
    const world = await makeWorld()
    onTestFinished(() => world.cache.close())
    return world
  }

  // Lifetimes are longer than any test, so that only `pass` ends them.
  describe(title, () => {
    it('returns a value until it expires', async () => {
      const { cache, pass } = await open()
      await cache.set('a', 'x', 1_000_000)
      await pass(500_000)
      expect(await cache.get('a')).toBe('x')
      await pass(600_000)
      expect(await cache.get('a')).toBeUndefined()
    })

    it('returns undefined for a missing key', async () => {
      const { cache } = await open()
      expect(await cache.get('a')).toBeUndefined()
    })

    it('replaces a value and its lifetime', async () => {
      const { cache, pass } = await open()
      await cache.set('a', 'x', 1_000_000)
      await pass(900_000)
      await cache.set('a', 'y', 1_000_000)
      await pass(900_000)
      expect(await cache.get('a')).toBe('y')
    })

    it('stores any text, including the empty one', async () => {
      const { cache } = await open()
      await cache.set('a', '', 1_000_000)
      await cache.set('b', 'é \n 会議 "', 1_000_000)
      expect(await cache.get('a')).toBe('')
      expect(await cache.get('b')).toBe('é \n 会議 "')
    })

    it('stores nothing with a lifetime of zero', async () => {
      const { cache } = await open()
      await cache.set('a', 'x', 1_000_000)
      await cache.set('a', 'y', 0)
      expect(await cache.get('a')).toBeUndefined()
    })

    it('deletes values and counters', async () => {
      const { cache } = await open()
      await cache.set('a', 'x', 1_000_000)
      await cache.increment('b', 1_000_000)
      await cache.delete('a')
      await cache.delete('b')
      await cache.delete('never there')
      expect(await cache.get('a')).toBeUndefined()
      expect(await cache.increment('b', 1_000_000)).toMatchObject({ count: 1 })
    })

    it('counts every concurrent increment once', async () => {
      const { cache } = await open()
      const results = await Promise.all(Array.from({ length: 100 }, () => cache.increment('a', 1_000_000)))
      const counts = results.map(({ count }) => count).sort((x, y) => x - y)
      expect(counts).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
    })

    it('expires a counter after its first increment, not the last', async () => {
      const { cache, pass } = await open()
      expect(await cache.increment('a', 3_000_000)).toEqual({ count: 1, resetInMs: 3_000_000 })
      await pass(600_000)
      const { count, resetInMs } = await cache.increment('a', 3_000_000)
      expect(count).toBe(2)
      expect(resetInMs).toBeGreaterThan(0)
      expect(resetInMs).toBeLessThanOrEqual(2_400_000)
      await pass(2_500_000)
      expect(await cache.increment('a', 3_000_000)).toMatchObject({ count: 1 })
    })

    it('counts each key separately', async () => {
      const { cache } = await open()
      await cache.increment('a', 1_000_000)
      expect(await cache.increment('b', 1_000_000)).toMatchObject({ count: 1 })
    })

    it('responds to a ping and closes twice', async () => {
      const { cache } = await open()
      await cache.ping()
      await cache.close()
      await cache.close()
    })
  })
}
