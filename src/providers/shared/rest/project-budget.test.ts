import { describe, expect, it } from 'vitest'
import { fixedClock } from '../../../platform/time/clock.ts'
import { ProjectBudget } from './project-budget.ts'

function openBudget(units = 1000, perMs = 60_000) {
  const clock = fixedClock(0)
  return { clock, budget: new ProjectBudget({ units, perMs }, clock) }
}

describe('the budget of a project', () => {
  it('lets sync wait until units of the last minute are free, and leaves a tenth to API callers', () => {
    const { clock, budget } = openBudget()
    budget.spend(500)
    clock.advance(10_000)
    budget.spend(400)
    expect([budget.waitMs(1, 'urgent'), budget.waitMs(1, 'normal')]).toEqual([0, 50_100])
    // The first slice is not enough for this one.
    expect(budget.waitMs(600, 'normal')).toBe(60_100)
    clock.advance(50_099)
    expect(budget.waitMs(1, 'normal')).toBe(1)
    clock.advance(1)
    expect([budget.waitMs(500, 'normal'), budget.waitMs(500, 'background')]).toEqual([0, 10_000])
  })

  it.each([60_000, 20_000])('never allows more than the limit in any %i ms, whatever is asked for', (perMs) => {
    const { clock, budget } = openBudget(100, perMs)
    const started: number[] = []
    for (let ms = 0; ms < 3.3 * perMs; ms += 70) {
      clock.advance(70)
      while (budget.waitMs(1, 'normal') === 0) {
        budget.spend(1)
        started.push(clock.monotonic())
      }
    }
    const most = Math.max(...started.map((at) => started.filter((other) => other >= at && other < at + perMs).length))
    expect([most, started.length]).toEqual([90, 360])
  })

  it('starts a request that costs more than the limit when nothing was spent', () => {
    const { budget } = openBudget(10)
    expect(budget.waitMs(50, 'normal')).toBe(0)
    budget.spend(50)
    expect(budget.waitMs(1, 'normal')).toBe(60_100)
  })

  it('is lowered by a refusal to what was accepted, and rises again slowly', () => {
    const { clock, budget } = openBudget()
    budget.spend(300)
    budget.refuse({ window: 'minute', isOfProject: true })
    expect(budget.waitMs(1, 'normal')).toBeGreaterThan(0)
    clock.advance(61_000)
    expect([budget.waitMs(297, 'normal'), budget.waitMs(298, 'normal')]).toEqual([0, 0])
    budget.spend(298)
    expect(budget.waitMs(1, 'normal')).toBeGreaterThan(0)
    budget.refuse({ window: 'minute', unitsPerMinute: 200, isOfProject: true })
    clock.advance(61_000)
    budget.spend(199)
    expect(budget.waitMs(1, 'normal')).toBeGreaterThan(0)
    for (let minute = 0; minute < 20; minute += 1) {
      clock.advance(61_000)
      budget.waitMs(1, 'normal')
    }
    budget.spend(899)
    expect([budget.waitMs(1, 'normal'), budget.waitMs(2, 'normal')]).toEqual([0, 60_100])
  })
})
