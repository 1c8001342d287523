import { describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { systemClock } from '../time/clock.ts'
import { LocalRuns } from './local-runs.ts'

const runs = (onFailure = () => {}) =>
  new LocalRuns({ clock: systemClock, backoff: { baseMs: 1, capMs: 1 }, onWaiting: () => {}, onFailure })

describe('runs without Redis', () => {
  it('happen once for many adds, at the earliest time, and again after an add during a run', async () => {
    const local = runs()
    const started: string[] = []
    const ends: (() => void)[] = []
    local.start(2, async (key) => {
      started.push(key)
      await new Promise<void>((resolve) => ends.push(resolve))
      return undefined
    })
    local.add('a', 60_000)
    local.add('a', 0)
    local.add('a', 60_000)
    await eventually(() => expect(started).toEqual(['a']))
    local.add('a', 0)
    local.add('a', 0)
    ends[0]?.()
    await eventually(() => expect(started).toEqual(['a', 'a']))
    ends[1]?.()
    await local.stop().ended
  })

  it('never exceed the concurrency, and miss no job', async () => {
    const local = runs()
    let running = 0
    let most = 0
    const seen = new Set<string>()
    local.start(3, async (key) => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      seen.add(key)
      return undefined
    })
    for (let i = 0; i < 100; i += 1) local.add(`k${i}`, i % 2)
    await eventually(() => expect(seen.size).toBe(100))
    expect(most).toBe(3)
    await local.stop().ended
  })

  it('are repeated when they fail', async () => {
    let failures = 0
    const local = runs(() => {
      failures += 1
    })
    let started = 0
    local.start(1, async () => {
      started += 1
      if (started < 3) throw new Error('not yet')
      return undefined
    })
    local.add('a', 0)
    await eventually(() => expect(started).toBe(3))
    expect(failures).toBe(2)
    await local.stop().ended
  })

  it('wait for a worker, and can be handed over while they wait', () => {
    const local = runs()
    local.add('a', 60_000)
    local.add('b', 0)
    expect(local.take()).toEqual([
      { key: 'a', delayMs: expect.closeTo(60_000, -3) },
      { key: 'b', delayMs: 0 },
    ])
    expect(local.take()).toEqual([])
  })

  it('hold a bounded number of jobs', () => {
    const local = runs()
    for (let i = 0; i < 20_000; i += 1) local.add(`k${i}`, 60_000)
    expect(local.take()).toHaveLength(10_000)
  })
})
