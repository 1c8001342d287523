import { expect, it } from 'vitest'
import { describeOneDatabase } from '../kit/database/database.ts'
import { runIsolation } from '../scenarios/isolation.ts'

describeOneDatabase('healthy webhook endpoints beside unhealthy ones', 'sqlite', (databases) => {
  it('receive every event, and a kill loses nothing', async () => {
    const figures = await runIsolation(await databases.place(), {
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
    expect(figures.unhealthyRequests).toBeGreaterThan(0)
  })
})
