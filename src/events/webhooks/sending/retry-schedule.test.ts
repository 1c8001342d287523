import { describe, expect, it } from 'vitest'
import { retryDelayMs } from './retry-schedule.ts'

const HOUR_MS = 60 * 60_000

describe('the delay before the next attempt', () => {
  const fixed = { retryDelayMs: 1000, retryStrategy: 'fixed' } as const
  const exponential = { retryDelayMs: 1000, retryStrategy: 'exponential' } as const

  it('is always retryDelayMs, zero included', () => {
    expect([1, 2, 20].map((attempt) => retryDelayMs(fixed, attempt))).toEqual([1000, 1000, 1000])
    expect(retryDelayMs({ ...fixed, retryDelayMs: 0 }, 1)).toBe(0)
  })

  it('doubles with the exponential strategy, up to a day', () => {
    expect([1, 2, 3, 4].map((attempt) => retryDelayMs(exponential, attempt))).toEqual([1000, 2000, 4000, 8000])
    expect(retryDelayMs({ ...exponential, retryDelayMs: HOUR_MS }, 20)).toBe(24 * HOUR_MS)
  })

  it('is extended by Retry-After up to a day, and never shortened', () => {
    expect(retryDelayMs(fixed, 1, 5000)).toBe(5000)
    expect(retryDelayMs(fixed, 1, 10)).toBe(1000)
    expect(retryDelayMs(fixed, 1, 48 * HOUR_MS)).toBe(24 * HOUR_MS)
  })
})
