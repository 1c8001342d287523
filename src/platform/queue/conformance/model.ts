import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import type { Run } from '../queue.ts'
import { type MakeWorld, two } from './world.ts'

const KEYS = ['a', 'b', 'c']
/** A failure prints its seed and path; set them here to repeat it. */
const REPEAT: { seed?: number; path?: string } = {}
const SCENARIOS = 12

interface Step {
  key: string
  process: 0 | 1
  delayMs: number
  /** Before the next step. */
  pauseMs: number
}

/** The outcomes of the runs, in order. */
type Outcome = 'done' | 'throw' | 'again soon' | 'again later'

const step: fc.Arbitrary<Step> = fc.record({
  key: fc.constantFrom(...KEYS),
  process: fc.constantFrom(0 as const, 1 as const),
  delayMs: fc.constantFrom(0, 0, 0, 5, 20, 60_000),
  pauseMs: fc.constantFrom(0, 0, 0, 1, 3, 10),
})
const outcome: fc.Arbitrary<Outcome> = fc.constantFrom('done', 'done', 'done', 'throw', 'again soon', 'again later')

/** Two processes that add at random. Each key has a row with a version, and each run reads the version at its start. */
export function model(title: string, makeWorld: MakeWorld): void {
  describe(`${title}: any order of adds and runs`, () => {
    it('runs after every add, never overlaps runs of a key, and stores nothing afterwards', async () => {
      const { world, one, other } = await two(makeWorld)
      let round = 0
      const scenario = fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 40 }),
        fc.array(outcome, { maxLength: 20 }),
        async (steps, outcomes) => {
          round += 1
          const queue = `queue ${round}`
          const written = new Map<string, number>()
          const seen = new Map<string, number>()
          const running = new Set<string>()
          const overlaps: string[] = []
          const run: Run = async (key) => {
            if (running.has(key)) overlaps.push(key)
            running.add(key)
            const version = written.get(key) ?? 0
            await sleep(outcomes.length % 3)
            seen.set(key, version)
            running.delete(key)
            const next = outcomes.pop() ?? 'done'
            if (next === 'throw') throw new Error('a run that fails')
            if (next === 'done') return undefined
            return { nextRunInMs: next === 'again soon' ? 5 : 60_000 }
          }
          const processes = [one, other] as const
          const workers = processes.map((each) => each.work(queue, { concurrency: 2 }, run))
          for (const { key, process, delayMs, pauseMs } of steps) {
            // Jobs with a long delay need not run: the test checks only that no add hides another one that is due.
            if (delayMs < 1000) written.set(key, (written.get(key) ?? 0) + 1)
            await processes[process].add(queue, key, { delayMs })
            if (pauseMs > 0) await sleep(pauseMs)
          }
          await eventually(() => {
            for (const [key, version] of written) expect(seen.get(key)).toBe(version)
          })
          outcomes.length = 0
          // Makes the jobs with a long delay due, so that they run.
          for (const key of KEYS) await one.add(queue, key)
          await eventually(async () => expect(await world.stored(queue)).toEqual([]))
          await Promise.all(workers.map((worker) => worker.stop(5000)))
          expect(overlaps).toEqual([])
        },
      )
      await fc.assert(scenario, { numRuns: SCENARIOS, endOnFailure: true, ...REPEAT })
    })
  })
}
