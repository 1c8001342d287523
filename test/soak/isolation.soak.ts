import { expect, it } from 'vitest'
import { describeEachDatabase } from '../kit/database.ts'
import { type IsolationFigures, type IsolationStory, playIsolation } from '../scenarios/isolation.ts'

/** 1,000 events to each of 50 endpoints, ten of which are bad, in each act. */
const STORY: IsolationStory = { events: 1000, healthy: 40, failing: 5, hanging: 4, resetting: 1, paceMs: 40 }

const megabytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MB`

function report(title: string, figures: IsolationFigures): void {
  const ratio = (figures.p99BesideBadMs / figures.p99AloneMs).toFixed(2)
  console.log(
    [
      `${title}: 40 healthy endpoints, p99 alone ${figures.p99AloneMs} ms, beside ten bad ones ${figures.p99BesideBadMs} ms (${ratio} ×)`,
      `memory ${megabytes(figures.memoryBeforeBytes)} before, ${megabytes(figures.memoryMostBytes)} at most`,
      `${figures.badRequests} requests to the bad ones, ${figures.repeats} repeats to the healthy`,
    ].join('; '),
  )
}

describeEachDatabase('forty webhook endpoints beside ten bad ones', (databases, engine) => {
  it('get all their events in their usual time, and nothing is lost by a kill', { timeout: 1_800_000 }, async () => {
    const figures = await playIsolation(await databases.place(), { ...STORY, replicas: engine === 'postgres' ? 2 : 1 })
    report(engine, figures)
    expect(figures.p99BesideBadMs).toBeLessThanOrEqual(1.5 * figures.p99AloneMs)
    expect(figures.memoryMostBytes).toBeLessThan(figures.memoryBeforeBytes + 150 * 1024 * 1024)
  })
})
