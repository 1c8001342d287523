import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import { alone, held, type MakeWorld, record, two } from './world.ts'

/** Who holds a job, and how that ends. */
export function leases(title: string, makeWorld: MakeWorld): void {
  describe(`${title}: leases`, () => {
    it('keeps the job of a run that takes longer than its lease', async () => {
      const { one, other } = await two(makeWorld)
      const gate = held(one, { leaseMs: 300 })
      await one.add('lane', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      const seen = record(other)
      const startedAt = performance.now()
      await eventually(() => expect(performance.now() - startedAt).toBeGreaterThan(1000))
      expect(seen.subjects).toEqual([])
      expect(gate.signals[0]?.aborted).toBe(false)
      gate.release()
      await eventually(async () => expect(await one.find('lane', 'a')).toMatchObject({ state: 'idle' }))
      expect(seen.subjects).toEqual([])
    })

    it('gives the job of a killed process to another when the lease has ended', async () => {
      const world = await makeWorld()
      const queue = await world.join('ins_1')
      await queue.add('lane', 'a')
      await world.crash('ins_dead', 'lane', 700)
      expect(await queue.find('lane', 'a')).toMatchObject({ state: 'active' })
      const attempts: number[] = []
      queue.work('lane', { concurrency: 1 }, async (_subject, context) => {
        attempts.push(context.attempts)
        return undefined
      })
      await eventually(() => expect(attempts).toEqual([1]))
      expect(await queue.stats('lane')).toMatchObject({ failed: 1 })
    })

    it('gives the jobs of an instance known to be dead to others at once', async () => {
      const world = await makeWorld()
      const queue = await world.join('ins_1')
      await queue.add('lane', 'a')
      await world.crash('ins_dead', 'lane', 600_000)
      const seen = record(queue)
      await queue.releaseInstance('ins_other')
      expect(await queue.find('lane', 'a')).toMatchObject({ state: 'active' })
      await queue.releaseInstance('ins_dead')
      await eventually(() => expect(seen.subjects).toEqual(['a']))
    })

    it('tells a run that its lease was lost, and ignores how it ends', async () => {
      const { one, other } = await two(makeWorld)
      const gate = held(one, { leaseMs: 300 })
      await one.add('lane', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      await one.pause('lane')
      await other.releaseInstance('ins_1')
      await eventually(() => expect(gate.signals[0]?.aborted).toBe(true))
      gate.release()
      await gate.worker.stop(5000)
      expect(await other.find('lane', 'a')).toMatchObject({ state: 'waiting', attempts: 1 })
      expect(await other.stats('lane')).toMatchObject({ completed: 0, failed: 1 })
    })
  })

  describe(`${title}: stopping`, () => {
    it('waits for the runs under way and takes no more', async () => {
      const { queue } = await alone(makeWorld)
      const gate = held(queue, { concurrency: 1 })
      await queue.add('lane', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      await queue.add('lane', 'b')
      const stopped = Promise.all([gate.worker.stop(60_000), gate.worker.stop(0)])
      gate.release()
      await stopped
      expect(gate.started).toEqual(['a'])
      expect(gate.signals[0]?.aborted).toBe(false)
      expect(await queue.stats('lane')).toMatchObject({ completed: 1, waiting: 1, active: 0 })
    })

    it('aborts what has not ended after the grace, and lets others run it again without calling it a failure', async () => {
      const { one, other } = await two(makeWorld)
      const worker = one.work(
        'lane',
        { concurrency: 1 },
        (_subject, { signal }) =>
          new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      )
      await one.add('lane', 'a')
      await eventually(async () => expect(await one.find('lane', 'a')).toMatchObject({ state: 'active' }))
      await worker.stop(50)
      expect(await other.find('lane', 'a')).toMatchObject({ state: 'waiting', attempts: 0, lastError: null })
      const seen = record(other)
      await eventually(() => expect(seen.subjects).toEqual(['a']))
      expect(await other.stats('lane')).toMatchObject({ failed: 0 })
    })

    it('does not wait forever for a run that ignores its signal', async () => {
      const { queue } = await alone(makeWorld)
      const gate = held(queue)
      await queue.add('lane', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      await gate.worker.stop(0)
      expect(await queue.find('lane', 'a')).toMatchObject({ state: 'active' })
      gate.release()
    })

    it('stops at once when nothing runs', async () => {
      const { queue } = await alone(makeWorld)
      const worker = queue.work('lane', { concurrency: 1 }, async () => undefined)
      // Longer than the test may take.
      await worker.stop(600_000)
    })
  })
}
