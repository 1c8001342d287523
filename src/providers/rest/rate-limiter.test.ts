import { describe, expect, it } from 'vitest'
import { fixedClock, systemClock } from '../../lib/clock.ts'
import { RateLimiter } from './rate-limiter.ts'

const entry = (more: Partial<Parameters<RateLimiter['acquire']>[0]> = {}) => ({
  ...{ cost: 1, urgent: false, doing: 'asking', waitMs: 60_000, signal: new AbortController().signal },
  ...more,
})

/** Whether it entered without waiting for anything. */
async function isIn(entering: Promise<unknown>): Promise<boolean> {
  const waiting = new Promise<false>((resolve) => setImmediate(() => resolve(false)))
  return Promise.race([entering.then(() => true), waiting])
}

describe('the gate of a mailbox', () => {
  it('lets no more be spent than the quota gives, and goes on when some has come back', async () => {
    const clock = fixedClock(0)
    const limiter = new RateLimiter({ concurrency: 10, quota: { perSecond: 1000, burst: 10 } }, clock)
    expect(await isIn(limiter.acquire(entry({ cost: 8 })))).toBe(true)
    const next = limiter.acquire(entry({ cost: 6 }))
    expect(await isIn(next)).toBe(false)
    clock.advance(3)
    expect(await isIn(next)).toBe(false)
    clock.advance(1)
    await next
  })

  it('charges urgent requests without making them wait, and one dearer than everything waits for a full measure', async () => {
    const clock = fixedClock(0)
    const limiter = new RateLimiter({ concurrency: 10, quota: { perSecond: 1000, burst: 10 } }, clock)
    expect(await isIn(limiter.acquire(entry({ cost: 10 })))).toBe(true)
    expect(await isIn(limiter.acquire(entry({ cost: 5, urgent: true })))).toBe(true)
    const dear = limiter.acquire(entry({ cost: 50 }))
    clock.advance(14)
    expect(await isIn(dear)).toBe(false)
    clock.advance(1)
    await dear
  })

  it('lets the next one in when one that waits for more gives up', async () => {
    const limiter = new RateLimiter({ concurrency: 10, quota: { perSecond: 0.001, burst: 10 } }, fixedClock(0))
    expect(await isIn(limiter.acquire(entry({ cost: 8 })))).toBe(true)
    const over = new AbortController()
    const dear = limiter.acquire(entry({ cost: 6, signal: over.signal }))
    const cheap = limiter.acquire(entry({ cost: 2 }))
    expect(await isIn(cheap)).toBe(false)
    over.abort(new Error('not wanted any more'))
    await expect(dear).rejects.toThrow('not wanted any more')
    expect(await isIn(cheap)).toBe(true)
  })

  it('stays shut for a pause, and says how long to whoever would not wait so long', async () => {
    const clock = fixedClock(0)
    const limiter = new RateLimiter({ concurrency: 1 }, clock)
    limiter.pause(2000)
    const refused = { kind: 'rate_limited', retryAfterMs: 2000 }
    await expect(limiter.acquire(entry({ waitMs: 1000 }))).rejects.toMatchObject(refused)
    limiter.pause(500)
    await expect(limiter.acquire(entry({ waitMs: 1000 }))).rejects.toMatchObject(refused)
    clock.advance(2000)
    expect(await isIn(limiter.acquire(entry()))).toBe(true)
  })

  it('does not wait longer than allowed for its turn, and holds no endless line', async () => {
    const limiter = new RateLimiter({ concurrency: 1 }, systemClock)
    const leave = await limiter.acquire(entry())
    await expect(limiter.acquire(entry({ waitMs: 10 }))).rejects.toMatchObject({ kind: 'rate_limited' })
    const line = Array.from({ length: 500 }, () => limiter.acquire(entry()))
    await expect(limiter.acquire(entry())).rejects.toMatchObject({ kind: 'rate_limited' })
    leave()
    leave()
    for (const one of line) (await one)()
  })
})
