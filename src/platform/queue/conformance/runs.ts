import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import { alone, type MakeWorld, record } from './world.ts'

/** Retries, repeated runs, and closing a queue. */
export function runs(title: string, makeWorld: MakeWorld): void {
  describe(`${title}: runs`, () => {
    it('repeats a failed run after a growing delay, until it succeeds', async () => {
      const { world, queue } = await alone(makeWorld)
      const times: number[] = []
      queue.work('queue', { concurrency: 1 }, async () => {
        times.push(performance.now())
        if (times.length < 4) throw new Error(`failure ${times.length}\0`)
        return undefined
      })
      await queue.add('queue', 'a')
      await eventually(() => expect(times).toHaveLength(4))
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
      const waited = times.slice(1).map((time, index) => time - (times[index] ?? 0))
      // Half of 20, 40 and 80 ms at least.
      for (const [index, leastMs] of [9, 19, 39].entries()) expect(waited[index]).toBeGreaterThanOrEqual(leastMs)
    })

    it('runs a failed job earlier when it is added meanwhile', async () => {
      const { world, queue } = await alone(makeWorld)
      let runs = 0
      queue.work('queue', { concurrency: 1 }, async () => {
        runs += 1
        if (runs < 6) throw new Error('not yet')
        return undefined
      })
      await queue.add('queue', 'a')
      for (let before = 0; runs < 6; before = runs) {
        await eventually(() => expect(runs).toBeGreaterThan(before), undefined, 1)
        await queue.add('queue', 'a')
      }
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
    })

    it('runs again at the time that a run returns, unless the job is added for an earlier time', async () => {
      const { queue } = await alone(makeWorld)
      const runs = { soon: 0, later: 0 }
      queue.work('queue', { concurrency: 2 }, async (key) => {
        runs[key === 'soon' ? 'soon' : 'later'] += 1
        return { nextRunInMs: key === 'soon' ? 30 : 60_000 }
      })
      await queue.add('queue', 'soon')
      await queue.add('queue', 'later')
      await eventually(() => expect(runs.soon).toBeGreaterThan(2))
      expect(runs.later).toBe(1)
      await queue.add('queue', 'later')
      await eventually(() => expect(runs.later).toBe(2))
      await queue.add('queue', 'later', { delayMs: 50 })
      await eventually(() => expect(runs.later).toBe(3))
    })

    it('runs a job that was added during a run, even if the run returns a later time', async () => {
      const { queue } = await alone(makeWorld)
      const gates: (() => void)[] = []
      queue.work('queue', { concurrency: 1 }, async () => {
        await new Promise<void>((resolve) => gates.push(resolve))
        return { nextRunInMs: 600_000 }
      })
      await queue.add('queue', 'a')
      await eventually(() => expect(gates).toHaveLength(1))
      await queue.add('queue', 'a')
      gates[0]?.()
      await eventually(() => expect(gates).toHaveLength(2))
      gates[1]?.()
    })

    it('runs a job again at once when the run returns so, without delaying other jobs', async () => {
      const { queue } = await alone(makeWorld)
      const order: string[] = []
      queue.work('queue', { concurrency: 1 }, async (key) => {
        order.push(key)
        return key === 'busy' && order.length < 50 ? { nextRunInMs: 0 } : undefined
      })
      await queue.add('queue', 'busy')
      await eventually(() => expect(order.length).toBeGreaterThan(1))
      await queue.add('queue', 'other')
      await eventually(() => expect(order).toContain('other'))
      await eventually(() => expect(order.length).toBeGreaterThanOrEqual(50))
    })

    it('responds to a ping, and closes twice', async () => {
      const { queue } = await alone(makeWorld)
      await queue.ping()
      await queue.close()
      await queue.close()
    })

    it('rejects a second worker of one queue in one process until the first has stopped', async () => {
      const { queue } = await alone(makeWorld)
      const worker = queue.work('queue', { concurrency: 1 }, async () => undefined)
      expect(() => queue.work('queue', { concurrency: 1 }, async () => undefined)).toThrow('already has a worker')
      await worker.stop(0)
      const seen = record(queue)
      await queue.add('queue', 'a')
      await eventually(() => expect(seen.keys).toEqual(['a']))
    })
  })
}
