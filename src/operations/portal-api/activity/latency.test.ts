import { describe, expect, it } from 'vitest'
import { fc } from '../../../../test/kit/random/random.ts'
import { latencyName, latencyPercentile } from './latency.ts'

const countOf = (latencies: readonly number[]) => {
  const amounts = new Map<string, number>()
  for (const ms of latencies) amounts.set(latencyName(ms), (amounts.get(latencyName(ms)) ?? 0) + 1)
  return amounts
}

describe('the percentile of counted latencies', () => {
  it('is the one of the latencies, up to a quarter more', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 100_000_000 }), { minLength: 1, maxLength: 200 }), (latencies) => {
        const sorted = latencies.toSorted((left, right) => left - right)
        const exact = sorted[Math.ceil(0.95 * sorted.length) - 1] ?? 0
        const found = latencyPercentile(countOf(latencies), 0.95) ?? 0
        expect(found).toBeGreaterThanOrEqual(Math.floor(exact * 0.999))
        expect(found).toBeLessThanOrEqual(Math.ceil(exact * 1.251))
      }),
    )
  })

  it('takes less than a millisecond for one, and more than two days for two days', () => {
    expect(latencyPercentile(countOf([0, -5]), 0.95)).toBe(1)
    expect(latencyName(1e15)).toBe(latencyName(1e12))
  })

  it('is undefined without deliveries, whatever else was counted', () => {
    expect(latencyPercentile(new Map([['received', 7]]), 0.95)).toBeUndefined()
  })
})
