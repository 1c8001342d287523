import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import { alone, gated, type MakeWorld, record, two } from './world.ts'

/** Which process holds a job, and when it loses the job. */
export function leases(title: string, makeWorld: MakeWorld): void {
  describe(`${title}: leases`, () => {
    it('keeps the job of a run that takes longer than its lease', async () => {
      const { world, one, other } = await two(makeWorld)
      // A process that gets no CPU for a whole lease loses its job, rightly.
      const gate = gated(one, { leaseMs: 5000 })
      await one.add('queue', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      const seen = record(other)
      await new Promise((resolve) => setTimeout(resolve, 10_500))
      expect(seen.keys).toEqual([])
      expect(gate.signals[0]?.aborted).toBe(false)
      gate.release()
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
      expect(seen.keys).toEqual([])
    })

    it('gives the job of a killed process to another after the lease expires', async () => {
      const world = await makeWorld()
      const queue = await world.join('ins_1')
      await queue.add('queue', 'a')
      await world.crash('ins_dead', 'queue', 700)
      expect(await world.stored('queue')).not.toEqual([])
      const seen = record(queue)
      await eventually(() => expect(seen.keys).toEqual(['a']))
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
    })
  })

  describe(`${title}: stopping`, () => {
    it('waits for running jobs and claims no new ones', async () => {
      const { world, queue } = await alone(makeWorld)
      const gate = gated(queue, { concurrency: 1 })
      await queue.add('queue', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      await queue.add('queue', 'b')
      const stopped = Promise.all([gate.worker.stop(60_000), gate.worker.stop(0)])
      gate.release()
      await stopped
      expect(gate.started).toEqual(['a'])
      expect(gate.signals[0]?.aborted).toBe(false)
      const seen = record(await world.join('ins_2'))
      await eventually(() => expect(seen.keys).toEqual(['b']))
    })

    it('aborts runs that exceed the grace period, and lets other processes repeat them at once', async () => {
      const { one, other } = await two(makeWorld)
      let runs = 0
      const worker = one.work('queue', { concurrency: 1, leaseMs: 600_000 }, (_key, { signal }) => {
        runs += 1
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      })
      await one.add('queue', 'a')
      await eventually(() => expect(runs).toBe(1))
      await worker.stop(50)
      const seen = record(other)
      await eventually(() => expect(seen.keys).toEqual(['a']))
    })

    it('lets other processes repeat an aborted run that returned normally', async () => {
      const { one, other } = await two(makeWorld)
      let runs = 0
      const worker = one.work('queue', { concurrency: 1, leaseMs: 600_000 }, (_key, { signal }) => {
        runs += 1
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)))
      })
      await one.add('queue', 'a')
      await eventually(() => expect(runs).toBe(1))
      await worker.stop(50)
      const seen = record(other)
      await eventually(() => expect(seen.keys).toEqual(['a']))
    })

    it('does not wait forever for a run that ignores its signal', async () => {
      const { world, queue } = await alone(makeWorld)
      const gate = gated(queue)
      await queue.add('queue', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      await gate.worker.stop(0)
      expect(await world.stored('queue')).not.toEqual([])
      gate.release()
    })

    it('stops at once when nothing runs', async () => {
      const { queue } = await alone(makeWorld)
      const worker = queue.work('queue', { concurrency: 1 }, async () => undefined)
      // Longer than the timeout of the test.
      await worker.stop(600_000)
    })
  })
}
