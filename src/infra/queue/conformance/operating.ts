import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import { alone, held, type MakeWorld, record, two } from './world.ts'

/** What operators see and do. */
export function operating(title: string, makeWorld: MakeWorld): void {
  describe(`${title}: operating`, () => {
    it('takes nothing while the lane is paused, and all of it once resumed', async () => {
      const { one, other } = await two(makeWorld)
      await one.pause('lane')
      const seen = record(other)
      await one.add('lane', 'a')
      await other.add('lane', 'b')
      expect(await other.stats('lane')).toMatchObject({ paused: true, waiting: 2 })
      // Longer than several polls, so that nobody missed the chance to take it.
      const pausedAt = performance.now()
      await eventually(() => expect(performance.now() - pausedAt).toBeGreaterThan(300))
      expect(seen.subjects).toEqual([])
      await one.resume('lane')
      await eventually(() => expect(seen.subjects.toSorted()).toEqual(['a', 'b']))
      expect(await one.stats('lane')).toMatchObject({ paused: false })
    })

    it('clears delays and backoffs, so that everything runs now', async () => {
      const { queue } = await alone(makeWorld)
      await queue.add('lane', 'a', { delayMs: 60_000 })
      await queue.add('lane', 'b', { delayMs: 60_000 })
      await queue.add('elsewhere', 'c', { delayMs: 60_000 })
      const seen = record(queue)
      expect(await queue.clear('lane')).toBe(2)
      expect(await queue.clear('lane')).toBe(0)
      await eventually(() => expect(seen.subjects.toSorted()).toEqual(['a', 'b']))
      expect(await queue.stats('elsewhere')).toMatchObject({ delayed: 1 })
    })

    it('counts the subjects of a lane by what they do', async () => {
      const { queue } = await alone(makeWorld)
      const gate = held(queue, { concurrency: 1 })
      await queue.add('lane', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      await queue.add('lane', 'b')
      await queue.add('lane', 'c', { delayMs: 60_000 })
      expect(await queue.stats('lane')).toEqual({
        waiting: 1,
        active: 1,
        delayed: 1,
        completed: 0,
        failed: 0,
        paused: false,
        subjects: 3,
      })
      gate.release()
      gate.open()
      await eventually(async () => expect(await queue.stats('lane')).toMatchObject({ completed: 2, active: 0 }))
    })

    it('knows nothing of what was never added', async () => {
      const { queue } = await alone(makeWorld)
      expect(await queue.find('lane', 'a')).toBeUndefined()
      expect(await queue.stats('lane')).toEqual({
        waiting: 0,
        active: 0,
        delayed: 0,
        completed: 0,
        failed: 0,
        paused: false,
        subjects: 0,
      })
    })

    it('answers a ping, and closes twice', async () => {
      const { queue } = await alone(makeWorld)
      await queue.ping()
      await queue.close()
      await queue.close()
    })

    it('refuses a second worker of one lane in one process, until the first has stopped', async () => {
      const { queue } = await alone(makeWorld)
      const worker = queue.work('lane', { concurrency: 1 }, async () => undefined)
      expect(() => queue.work('lane', { concurrency: 1 }, async () => undefined)).toThrow('already works')
      await worker.stop(0)
      const seen = record(queue)
      await queue.add('lane', 'a')
      await eventually(() => expect(seen.subjects).toEqual(['a']))
    })
  })
}
