import { expect, it } from 'vitest'
import { describeEachDatabase } from '../kit/database.ts'
import { playIsolation } from '../scenarios/isolation.ts'

describeEachDatabase('webhook endpoints beside bad ones', (databases) => {
  it('get everything, and nothing is lost by a kill', { timeout: 240_000 }, async () => {
    const figures = await playIsolation(await databases.place(), {
      events: 50,
      warmUp: 10,
      rounds: 2,
      healthy: 7,
      failing: 1,
      hanging: 1,
      resetting: 1,
      paceMs: 10,
    })
    expect(figures.delivered).toBe(7 * (10 + 3 * 50))
    expect(figures.badRequests).toBeGreaterThan(0)
  })
})
