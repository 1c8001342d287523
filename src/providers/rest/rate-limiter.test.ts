import { describe, expect, it } from 'vitest'
import { fixedClock, systemClock } from '../../lib/clock.ts'
import { RateLimiter } from './rate-limiter.ts'

const entry = (more: Partial<Parameters<RateLimiter['acquire']>[0]> = {}) => ({
  ...{ cost: 1, urgent: false, doing: 'asking', waitMs: 60_000, signal: new AbortController().signal },
  ...more,
})

/** True when the request starts without waiting. */
async function isIn(entering: Promise<unknown>): Promise<boolean> {
  const waiting = new Promise<false>((resolve) => setImmediate(() => resolve(false)))
  return Promise.race([entering.then(() => true), waiting])
}

describe('the rate limiter of a mailbox', () => {
  it('spends no more than the quota, and continues when it is refilled', async () => {
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

  it('lets background requests go last, and keeps half of the burst and a slot for the others', async () => {
    const clock = fixedClock(0)
    const limiter = new RateLimiter({ concurrency: 2, quota: { perSecond: 1000, burst: 10 } }, clock)
    const release = await limiter.acquire(entry({ cost: 5, background: true }))
    const next = limiter.acquire(entry({ cost: 1, background: true }))
    expect(await isIn(next)).toBe(false)
    const normal = limiter.acquire(entry({ cost: 1 }))
    expect(await isIn(normal)).toBe(true)
    ;(await normal)()
    // The quota is refilled, but the other slot is not for background requests.
    clock.advance(10)
    expect(await isIn(next)).toBe(false)
    release()
    await next
  })

  it('charges urgent requests without delay, and makes a request above the burst wait for a full bucket', async () => {
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

  it('starts the next request when a more expensive one is aborted', async () => {
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

  it('starts a request of several slots when they are free, and takes what streams leave', async () => {
    const limiter = new RateLimiter({ concurrency: 4 }, fixedClock(0))
    const single = await limiter.acquire(entry())
    const batch = limiter.acquire(entry({ slots: 4 }))
    const behind = limiter.acquire(entry())
    expect(await isIn(batch)).toBe(false)
    expect(await isIn(behind)).toBe(false)
    const urgent = limiter.acquire(entry({ urgent: true }))
    expect(await isIn(urgent)).toBe(true)
    ;(await urgent)()
    single()
    expect(await isIn(batch)).toBe(true)
    expect(await isIn(behind)).toBe(false)
    ;(await batch)()
    ;(await behind)()
    const stream = await limiter.acquire(entry({ isStream: true }))
    const next = limiter.acquire(entry({ slots: 4 }))
    expect(await isIn(next)).toBe(true)
    expect(await isIn(limiter.acquire(entry({ urgent: true })))).toBe(false)
    stream()
  })

  it('lets a background request that needs every slot start alone', async () => {
    const limiter = new RateLimiter({ concurrency: 4 }, fixedClock(0))
    const single = await limiter.acquire(entry())
    const batch = limiter.acquire(entry({ slots: 4, background: true }))
    expect(await isIn(batch)).toBe(false)
    single()
    expect(await isIn(batch)).toBe(true)
  })

  it('starts nothing during a pause, and throws its length to requests that would not wait so long', async () => {
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

  it('limits the wait and the length of the queue', async () => {
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
