import { describe, expect, it } from 'vitest'
import { fixedClock } from '../../../platform/time/clock.ts'
import { LimitPauses } from './limit-pauses.ts'

const DAY_MS = 86_400_000

describe('the pauses of a server that exceeds limits', () => {
  it('grow to a day, and begin again after two days without a violation', () => {
    const clock = fixedClock(0)
    const pauses = new LimitPauses(clock, { baseMs: 600_000, capMs: DAY_MS })
    const pauseMs = Array.from({ length: 12 }, () => {
      const next = pauses.begin()
      expect(pauses.leftMs).toBe(next)
      clock.advance(next)
      return next
    })
    expect(pauseMs[0]).toBeLessThanOrEqual(600_000)
    expect(pauseMs[4]).toBeGreaterThan(3_000_000)
    expect(Math.min(...pauseMs.slice(-3))).toBeGreaterThanOrEqual(DAY_MS / 2)
    expect(Math.max(...pauseMs)).toBeLessThanOrEqual(DAY_MS)
    clock.advance(2 * DAY_MS + 1)
    pauses.begin()
    expect(pauses.violations).toBe(1)
  })

  it('continue after a restart, also when the last sync succeeded', () => {
    const clock = fixedClock(1_000_000)
    const pauses = new LimitPauses(clock, { baseMs: 600_000, capMs: DAY_MS })
    const stored = { limitViolations: 4, nextRunAt: 1_300_000 }
    pauses.resume(stored, true)
    expect(pauses.leftMs).toBe(300_000)
    pauses.end()
    pauses.resume(stored, false)
    expect(pauses.begin()).toBeGreaterThan(4_800_000)
    expect(pauses.violations).toBe(5)
  })
})
