import { describe, expect, it } from 'vitest'
import { fixedClock } from '../time/clock.ts'
import { describeCache } from './conformance/cache.ts'
import { memoryCache } from './memory.ts'

describeCache('the memory cache', async () => {
  const clock = fixedClock(1000)
  return { cache: memoryCache({ clock }), pass: async (ms) => clock.advance(ms) }
})

describe('the limits of the memory cache', () => {
  it('evicts the least recently used value', async () => {
    const cache = memoryCache({ clock: fixedClock(1000), maxEntries: 3 })
    for (const key of ['a', 'b', 'c']) await cache.set(key, key, 1000)
    await cache.get('a')
    await cache.set('d', 'd', 1000)
    expect(await cache.get('a')).toBe('a')
    expect(await cache.get('b')).toBeUndefined()
  })

  it('stays within its size limit', async () => {
    const cache = memoryCache({ clock: fixedClock(1000), maxBytes: 10_000 })
    for (let i = 0; i < 20; i += 1) await cache.set(`k${i}`, 'x'.repeat(1000), 1000)
    const kept = await Promise.all(Array.from({ length: 20 }, (_, i) => cache.get(`k${i}`)))
    expect(kept.filter((value) => value !== undefined).length).toBeLessThanOrEqual(4)
    expect(kept.at(-1)).toBeDefined()
  })

  it('does not evict counters for values', async () => {
    const cache = memoryCache({ clock: fixedClock(1000), maxEntries: 2 })
    await cache.increment('guesses', 1000)
    for (let i = 0; i < 10; i += 1) await cache.set(`k${i}`, 'x', 1000)
    expect(await cache.increment('guesses', 1000)).toMatchObject({ count: 2 })
  })
})
