import { expect, it } from 'vitest'
import { fixedClock } from '../../../platform/time/clock.ts'
import { HostCircuits } from './host-circuits.ts'

it('delays connections to an unreachable host longer each time, and not at all once it was reached', () => {
  const clock = fixedClock(0)
  const circuits = new HostCircuits(clock)
  for (let n = 0; n < 20; n += 1) {
    clock.advance(60_000)
    expect(circuits.waitMs('a')).toBe(0)
    circuits.record('a', 'unreachable')
  }
  expect(circuits.failures('a')).toBe(20)
  expect(circuits.waitMs('a')).toBeGreaterThan(10_000)
  expect(circuits.waitMs('b')).toBe(0)
  circuits.record('a', 'failed')
  expect(circuits.waitMs('a')).toBeGreaterThan(10_000)
  circuits.record('a', 'succeeded')
  expect([circuits.failures('a'), circuits.waitMs('a')]).toEqual([0, 0])
})

it('allows connections to an unreachable host at once after a reset', () => {
  const circuits = new HostCircuits(fixedClock(0))
  circuits.record('mail.example', 'unreachable')
  expect(circuits.waitMs('mail.example')).toBeGreaterThan(0)
  circuits.reset()
  expect([circuits.waitMs('mail.example'), circuits.failures('mail.example')]).toEqual([0, 1])
})
