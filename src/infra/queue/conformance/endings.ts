import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import { alone, held, type MakeWorld, record, two } from './world.ts'

/** What happens after a run, well or badly. */
export function endings(title: string, makeWorld: MakeWorld): void {
  describe(`${title}: endings`, () => {
    it('tries a failed run again after a backoff, counting failures in a row', async () => {
      const { queue } = await alone(makeWorld)
      const attempts: number[] = []
      const times: number[] = []
      queue.work('lane', { concurrency: 1 }, async (_subject, context) => {
        attempts.push(context.attempts)
        times.push(performance.now())
        if (context.attempts < 3) throw new Error(`failure ${context.attempts}`)
        return undefined
      })
      await queue.add('lane', 'a')
      await eventually(async () => expect(await queue.find('lane', 'a')).toMatchObject({ state: 'idle', attempts: 0 }))
      expect(attempts).toEqual([0, 1, 2, 3])
      expect((times[3] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(60)
      expect(await queue.stats('lane')).toMatchObject({ completed: 1, failed: 3 })
    })

    it('tells the last error of a subject that waits for its backoff', async () => {
      const { queue } = await alone(makeWorld)
      const worker = queue.work('lane', { concurrency: 1 }, async () => {
        throw new Error('the server said no\0')
      })
      await queue.add('lane', 'a')
      await eventually(async () =>
        expect(await queue.find('lane', 'a')).toMatchObject({
          lastError: 'the server said no',
          lastRunAt: expect.any(Number),
        }),
      )
      await worker.stop(0)
    })

    it('runs again when the run asks for it, unless somebody asks earlier', async () => {
      const { queue } = await alone(makeWorld)
      const runs = { soon: 0, later: 0 }
      queue.work('lane', { concurrency: 2 }, async (subject) => {
        runs[subject === 'soon' ? 'soon' : 'later'] += 1
        return { nextRunInMs: subject === 'soon' ? 30 : 60_000 }
      })
      await queue.add('lane', 'soon')
      await queue.add('lane', 'later')
      await eventually(() => expect(runs.soon).toBeGreaterThan(2))
      expect(runs.later).toBe(1)
      expect(await queue.find('lane', 'later')).toMatchObject({ state: 'waiting', nextRunAt: expect.any(Number) })
      await queue.add('lane', 'later')
      await eventually(() => expect(runs.later).toBe(2))
    })

    it('forgets a subject', async () => {
      const { queue } = await alone(makeWorld)
      await queue.add('lane', 'a', { delayMs: 60_000 })
      await queue.remove('lane', 'a')
      await queue.remove('lane', 'never there')
      expect(await queue.find('lane', 'a')).toBeUndefined()
      expect(await queue.stats('lane')).toMatchObject({ subjects: 0 })
    })

    it('forgets a subject that runs when its run is over, and keeps what the lane counted', async () => {
      const { queue } = await alone(makeWorld)
      const gate = held(queue)
      await queue.add('lane', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      await queue.remove('lane', 'a')
      expect(await queue.find('lane', 'a')).toBeUndefined()
      gate.release()
      await eventually(async () =>
        expect(await queue.stats('lane')).toMatchObject({ active: 0, subjects: 0, completed: 1 }),
      )
    })

    it('never runs a subject beside the run it had before it was removed', async () => {
      const { one, other } = await two(makeWorld)
      const gate = held(one)
      await one.add('lane', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      const seen = record(other)
      await one.remove('lane', 'a')
      await one.add('lane', 'a')
      await one.add('lane', 'b')
      await eventually(() => expect(seen.subjects.concat(gate.running)).toContain('b'))
      expect([...seen.subjects, ...gate.started].filter((subject) => subject === 'a')).toHaveLength(1)
      gate.release()
      gate.open()
      await eventually(() => expect(seen.subjects.concat(gate.started).filter((s) => s === 'a')).toHaveLength(2))
    })

    it('drops a lane', async () => {
      const { queue } = await alone(makeWorld)
      await queue.add('lane:1', 'a')
      await queue.add('lane:1', 'b')
      await queue.add('lane:2', 'c')
      expect(await queue.dropLane('lane:1')).toBe(2)
      expect(await queue.dropLane('lane:1')).toBe(0)
      expect(await queue.lanes('lane:')).toEqual(['lane:2'])
    })
  })
}
