import { describe, expect, it } from 'vitest'
import { fixedClock } from '../../../platform/time/clock.ts'
import { CheckTimes } from './check-times.ts'

const MINUTE = 60_000

describe('the times of checks', () => {
  function owning(...ids: string[]) {
    const clock = fixedClock(1_000_000)
    const times = new CheckTimes(clock, 3 * MINUTE)
    for (const id of ids) times.expect(id)
    return { clock, times }
  }

  it('an account is stalled three intervals after its last successful check, and after its gain', () => {
    const { clock, times } = owning('never', 'polled', 'pushed')
    times.succeeded('polled', MINUTE)
    times.succeeded('pushed', 10 * MINUTE)
    expect([times.lagMs('never'), times.lagMs('polled')]).toEqual([0, 0])
    clock.advance(2 * MINUTE)
    expect([times.lagMs('never'), times.lagMs('polled'), times.lagMs('pushed')]).toEqual([2 * MINUTE, MINUTE, 0])
    times.succeeded('polled', MINUTE)
    clock.advance(MINUTE)
    expect(times.stalled()).toEqual(['never'])
    expect(times.summary()).toEqual({ stalledAccounts: 1, greatestLagMs: 3 * MINUTE })
    clock.advance(2 * MINUTE)
    expect(times.stalled()).toEqual(['never', 'polled'])
    clock.advance(25 * MINUTE)
    expect(times.stalled()).toEqual(['never', 'polled', 'pushed'])
  })

  it('a check that stores something has not hung, however late it is', () => {
    const { clock, times } = owning('long')
    for (let minute = 0; minute < 10; minute += 1) {
      times.progressed('long')
      clock.advance(MINUTE)
    }
    expect([times.stalled(), times.lagMs('long')]).toEqual([[], 10 * MINUTE])
    clock.advance(3 * MINUTE)
    expect(times.stalled()).toEqual(['long'])
  })

  it('expects nothing of a paused or lost account, and a check at once when it continues', () => {
    const { clock, times } = owning('paused', 'lost')
    times.suspend('paused')
    times.forget('lost')
    // Its last run ends.
    times.succeeded('lost', MINUTE)
    clock.advance(10 * MINUTE)
    expect([times.stalled(), times.lagMs('paused'), times.lagMs('lost')]).toEqual([[], null, null])
    expect(times.summary()).toEqual({ stalledAccounts: 0, greatestLagMs: 0 })
    times.expect('paused')
    clock.advance(3 * MINUTE)
    expect(times.stalled()).toEqual(['paused'])
  })

  it('reports a stall until it is stored, and the next one after a success', () => {
    const { clock, times } = owning('one')
    clock.advance(3 * MINUTE)
    expect([times.stalled(), times.stalled()]).toEqual([['one'], ['one']])
    times.stored('one')
    times.progressed('one')
    expect(times.stalled()).toEqual([])
    times.succeeded('one', MINUTE)
    clock.advance(3 * MINUTE)
    expect(times.stalled()).toEqual(['one'])
  })
})
