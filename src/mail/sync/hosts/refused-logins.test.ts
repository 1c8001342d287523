import { describe, expect, it } from 'vitest'
import { DEFAULT_TIMING } from '../timing.ts'
import { confirmationInMs, countRefusal, delayAfterRefusal, isConfirmed, nextLoginInMs } from './refused-logins.ts'

const STORED = {
  accountId: 'acc_1',
  attempts: 1,
  lastRunAt: 0,
  nextRunAt: 500,
  lastError: 'refused',
  limitViolations: 0,
  refusals: 1,
  refusedVersion: 1,
}
const HOUR_MS = 3_600_000

/** When the server is asked for a login that it always refuses, from the first time on. */
function attempts(): number[] {
  const times = [0]
  for (let count = 1; count <= 20; count += 1) {
    times.push((times.at(-1) ?? 0) + delayAfterRefusal({ count, accessVersion: 1 }, DEFAULT_TIMING.refusal))
  }
  return times
}

describe('a refused login', () => {
  it('is confirmed within a minute, tried again soon, and then so rarely that no mailbox is locked', () => {
    const times = attempts()
    expect(times[1]).toBeLessThan(60_000)
    expect(times[2]).toBeLessThan(120_000)
    const within = (fromMs: number, toMs: number) => times.filter((at) => at >= fromMs && at < toMs).length
    expect(within(600_000, 600_000 + HOUR_MS)).toBeLessThanOrEqual(4)
    expect(within(3 * HOUR_MS, 27 * HOUR_MS)).toBeLessThanOrEqual(9)
  })

  it('is counted for the credentials that were refused', () => {
    expect(isConfirmed(countRefusal(undefined, 1, 0))).toBe(false)
    expect(isConfirmed(countRefusal(STORED, 1, 500))).toBe(true)
    expect(isConfirmed(countRefusal({ ...STORED, refusals: 7 }, 2, 500))).toBe(false)
  })

  it('is not confirmed by an attempt that somebody requests meanwhile', () => {
    const planned = { ...STORED, nextRunAt: 20_000 }
    expect(countRefusal(planned, 1, 5000).count).toBe(1)
    expect(countRefusal(planned, 1, 20_000).count).toBe(2)
    expect(countRefusal({ ...planned, refusals: 2 }, 1, 5000).count).toBe(3)
  })

  it('keeps its plan in another process', () => {
    expect(confirmationInMs(STORED, 100)).toBe(400)
    expect(confirmationInMs({ ...STORED, refusals: 2 }, 100)).toBe(0)
    expect(nextLoginInMs({ ...STORED, refusals: 2 }, 100)).toBe(400)
    expect(nextLoginInMs({ ...STORED, refusals: 2 }, 900)).toBe(0)
    expect(nextLoginInMs({ ...STORED, refusals: 0 }, 100)).toBeUndefined()
  })
})
