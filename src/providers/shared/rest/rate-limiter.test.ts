import { describe, expect, it } from 'vitest'
import { fixedClock, systemClock } from '../../../platform/time/clock.ts'
import type { QuotaLimits } from './quota.ts'
import { RateLimiter } from './rate-limiter.ts'

const entry = (more: Partial<Parameters<RateLimiter['acquire']>[0]> = {}) => ({
  cost: 1,
  priority: 'normal' as const,
  doing: 'asking',
  waitMs: 120_000,
  signal: new AbortController().signal,
  ...more,
})

/** True when the request starts without waiting. */
async function isIn(entering: Promise<unknown>): Promise<boolean> {
  const waiting = new Promise<false>((resolve) => setImmediate(() => resolve(false)))
  return Promise.race([entering.then(() => true), waiting])
}

/** A limiter whose timers play no role: `pass` lets time pass. */
function openLimiter(quota: QuotaLimits) {
  const clock = fixedClock(0)
  const limiter = new RateLimiter({ concurrency: 10, quota }, clock)
  return {
    clock,
    limiter,
    async pass(ms: number) {
      clock.advance(ms)
      limiter.endPause()
    },
  }
}

describe('the rate limiter of a mailbox', () => {
  it('counts the requests of an unlimited priority, and lets only the others wait', async () => {
    const { limiter } = openLimiter({ unitsPerMinute: 100, burst: 100, unlimited: 'urgent' })
    for (let n = 0; n < 3; n += 1) (await limiter.acquire(entry({ cost: 50, priority: 'urgent' })))()
    expect(await isIn(limiter.acquire(entry({ cost: 50 })))).toBe(false)
  })

  it('spends no more than the quota of a minute, and continues when units are free again', async () => {
    const { limiter, pass } = openLimiter({ unitsPerMinute: 100, burst: 100 })
    expect(await isIn(limiter.acquire(entry({ cost: 60 })))).toBe(true)
    const next = limiter.acquire(entry({ cost: 20 }))
    expect(await isIn(next)).toBe(false)
    await pass(59_000)
    expect(await isIn(next)).toBe(false)
    await pass(1100)
    await next
  })

  it('spends no more than the burst in a second', async () => {
    const { limiter, pass } = openLimiter({ unitsPerMinute: 1000, burst: 10 })
    expect(await isIn(limiter.acquire(entry({ cost: 8 })))).toBe(true)
    const next = limiter.acquire(entry({ cost: 6, priority: 'urgent' }))
    expect(await isIn(next)).toBe(false)
    await pass(1200)
    await next
  })

  it('keeps a quarter of the quota for API callers, and a quarter for sync', async () => {
    const { limiter, pass } = openLimiter({ unitsPerMinute: 100, burst: 100 })
    await limiter.acquire(entry({ cost: 70 }))
    const sync = limiter.acquire(entry({ cost: 5 }))
    expect(await isIn(sync)).toBe(false)
    expect(await isIn(limiter.acquire(entry({ cost: 25, priority: 'urgent' })))).toBe(true)
    await pass(60_100)
    await sync
    await limiter.acquire(entry({ cost: 65, priority: 'urgent' }))
    const urgent = limiter.acquire(entry({ cost: 10, priority: 'urgent' }))
    expect(await isIn(urgent)).toBe(false)
    // The first urgent request waits for the share of sync, which must not wait behind it.
    expect(await isIn(limiter.acquire(entry({ cost: 20 })))).toBe(true)
  })

  it('lets background requests go last, and keeps half of the quota and a slot for the others', async () => {
    const clock = fixedClock(0)
    const limiter = new RateLimiter({ concurrency: 2, quota: { unitsPerMinute: 100, burst: 100 } }, clock)
    const release = await limiter.acquire(entry({ cost: 50, priority: 'background' }))
    const next = limiter.acquire(entry({ cost: 1, priority: 'background' }))
    expect(await isIn(next)).toBe(false)
    const normal = limiter.acquire(entry({ cost: 20 }))
    expect(await isIn(normal)).toBe(true)
    ;(await normal)()
    // The quota is free again, but the other slot is not for background requests.
    clock.advance(70_000)
    limiter.endPause()
    expect(await isIn(next)).toBe(false)
    release()
    await next
  })

  it('starts a request above the quota, which delays the next ones', async () => {
    const { limiter, pass } = openLimiter({ unitsPerMinute: 10, burst: 10 })
    await limiter.acquire(entry({ cost: 50 }))
    const next = limiter.acquire(entry({ cost: 1, priority: 'urgent' }))
    await pass(59_000)
    expect(await isIn(next)).toBe(false)
    await pass(1100)
    await next
  })

  it('starts the next request when a more expensive one is aborted', async () => {
    const { limiter } = openLimiter({ unitsPerMinute: 100, burst: 100 })
    expect(await isIn(limiter.acquire(entry({ cost: 60 })))).toBe(true)
    const over = new AbortController()
    const dear = limiter.acquire(entry({ cost: 20, signal: over.signal }))
    const cheap = limiter.acquire(entry({ cost: 5 }))
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
    const urgent = limiter.acquire(entry({ priority: 'urgent' }))
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
    expect(await isIn(limiter.acquire(entry({ priority: 'urgent' })))).toBe(false)
    stream()
  })

  it('lets a background request that needs every slot start alone', async () => {
    const limiter = new RateLimiter({ concurrency: 4 }, fixedClock(0))
    const single = await limiter.acquire(entry())
    const batch = limiter.acquire(entry({ slots: 4, priority: 'background' }))
    expect(await isIn(batch)).toBe(false)
    single()
    expect(await isIn(batch)).toBe(true)
  })

  it('throws at once, with the time to wait, when a request would not wait so long for the quota', async () => {
    const { limiter } = openLimiter({ unitsPerMinute: 10, burst: 10 })
    await limiter.acquire(entry({ cost: 10 }))
    await expect(limiter.acquire(entry({ priority: 'urgent', waitMs: 10_000 }))).rejects.toMatchObject({
      kind: 'rate_limited',
      retryAfterMs: expect.closeTo(60_000, -3),
    })
  })

  it('makes batches as small as what the provider accepted, and larger again after a while', async () => {
    const { clock, limiter } = openLimiter({ unitsPerMinute: 6000 })
    expect(limiter.batchSize(20, 50)).toBe(25)
    await limiter.acquire(entry({ cost: 500 }))
    limiter.refused(380, 'normal', {})
    expect(limiter.batchSize(20, 50)).toBe(6)
    clock.advance(1200)
    await limiter.acquire(entry({ cost: 120, priority: 'urgent' }))
    limiter.refused(120, 'urgent', {})
    expect(limiter.batchSize(20, 50)).toBe(3)
    for (let times = 0; times < 300; times += 1) {
      clock.advance(10_000)
      limiter.batchSize(20, 50)
    }
    expect(limiter.batchSize(20, 50)).toBe(25)
  })

  it('lowers the quota of a minute to what was accepted, or to what the provider names', async () => {
    const { limiter, pass } = openLimiter({ unitsPerMinute: 1000, burst: 1000 })
    await limiter.acquire(entry({ cost: 400 }))
    limiter.refused(100, 'normal', { window: 'minute' })
    await pass(61_000)
    await limiter.acquire(entry({ cost: 200 }))
    expect(await isIn(limiter.acquire(entry({ cost: 50 })))).toBe(false)
    const other = openLimiter({ unitsPerMinute: 1000, burst: 1000 })
    other.limiter.refused(0, 'normal', { window: 'minute', unitsPerMinute: 100 })
    await other.pass(0)
    await other.limiter.acquire(entry({ cost: 70 }))
    expect(await isIn(other.limiter.acquire(entry({ cost: 10 })))).toBe(false)
  })

  it('rests longer with each refusal, except for API callers', async () => {
    const { clock, limiter } = openLimiter({ unitsPerMinute: 1000 })
    for (let times = 0; times < 6; times += 1) limiter.refused(1, 'normal', {})
    const sync = limiter.acquire(entry())
    clock.advance(14_000)
    expect(await isIn(limiter.acquire(entry({ priority: 'urgent' })))).toBe(true)
    expect(await isIn(sync)).toBe(false)
    clock.advance(16_000)
    expect(await isIn(limiter.acquire(entry({ priority: 'urgent' })))).toBe(true)
    await sync
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
    for (const release of line) (await release)()
  })
})
