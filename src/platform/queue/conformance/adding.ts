import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import type { Run } from '../queue.ts'
import { alone, gated, type MakeWorld, record, two } from './world.ts'

/** Adding, coalescing, and running many jobs. */
export function adding(title: string, makeWorld: MakeWorld): void {
  describe(`${title}: adding`, () => {
    it('runs an added job and stores nothing afterwards', async () => {
      const { world, queue } = await alone(makeWorld)
      const seen = record(queue)
      await queue.add('queue', 'a')
      await eventually(() => expect(seen.keys).toEqual(['a']))
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
    })

    it('runs a job that was added before the worker started', async () => {
      const { queue } = await alone(makeWorld)
      await queue.add('queue', 'a')
      const seen = record(queue)
      await eventually(() => expect(seen.keys).toEqual(['a']))
    })

    it('merges many adds of a waiting job into one run', async () => {
      const { world, queue } = await alone(makeWorld)
      await Promise.all(Array.from({ length: 50 }, () => queue.add('queue', 'a')))
      await queue.add('queue', 'a')
      const seen = record(queue)
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
      expect(seen.keys).toEqual(['a'])
    })

    it('keeps the earlier of two times, in either order', async () => {
      const { queue } = await alone(makeWorld)
      await queue.add('queue', 'a', { delayMs: 60_000 })
      await queue.add('queue', 'a')
      await queue.add('queue', 'b')
      await queue.add('queue', 'b', { delayMs: 60_000 })
      await queue.add('queue', 'c', { delayMs: 60_000 })
      await queue.add('queue', 'c', { delayMs: 50 })
      await queue.add('queue', 'd', { delayMs: 50 })
      await queue.add('queue', 'd', { delayMs: 60_000 })
      const seen = record(queue)
      await eventually(() => expect(seen.keys.toSorted()).toEqual(['a', 'b', 'c', 'd']))
    })

    it('waits for the delay', async () => {
      const { world, queue } = await alone(makeWorld)
      const seen = record(queue)
      const startedAt = performance.now()
      await queue.add('queue', 'a', { delayMs: 300 })
      expect(await world.stored('queue')).not.toEqual([])
      await eventually(() => expect(seen.keys).toEqual(['a']))
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(295)
    })

    it('runs once more when the job is added while it runs', async () => {
      const { world, queue } = await alone(makeWorld)
      const gate = gated(queue)
      await queue.add('queue', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      await queue.add('queue', 'a')
      await queue.add('queue', 'a')
      gate.release()
      await eventually(() => expect(gate.started).toEqual(['a', 'a']))
      gate.release()
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
      expect(gate.started).toEqual(['a', 'a'])
    })

    it('runs once more when the job is added with a delay while it runs, without hiding an add before it', async () => {
      const { queue } = await alone(makeWorld)
      const gate = gated(queue)
      await queue.add('queue', 'a')
      await queue.add('queue', 'b')
      await eventually(() => expect(gate.running.toSorted()).toEqual(['a', 'b']))
      await queue.add('queue', 'a', { delayMs: 100 })
      await queue.add('queue', 'b')
      await queue.add('queue', 'b', { delayMs: 600_000 })
      gate.open()
      await eventually(() => expect(gate.started.toSorted()).toEqual(['a', 'a', 'b', 'b']))
    })

    it('never overlaps two runs of one key, however often it is added', async () => {
      const { world, one, other } = await two(makeWorld)
      let running = 0
      let most = 0
      let runs = 0
      const run: Run = async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setTimeout(resolve, 2))
        running -= 1
        runs += 1
        return undefined
      }
      one.work('queue', { concurrency: 5 }, run)
      other.work('queue', { concurrency: 5 }, run)
      for (let i = 0; i < 60; i += 1) {
        await (i % 2 === 0 ? one : other).add('queue', 'a')
        await new Promise((resolve) => setImmediate(resolve))
      }
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
      expect(most).toBe(1)
      expect(runs).toBeGreaterThan(1)
    })

    it('reaches a worker of another process without waiting for its poll', async () => {
      const { one, other } = await two(makeWorld, 600_000)
      const seen = record(other)
      await one.add('queue', 'a')
      await eventually(() => expect(seen.keys).toEqual(['a']))
    })

    it('takes effect with the commit, and not at all after a rollback', async () => {
      const { world, queue } = await alone(makeWorld)
      const seen = record(queue)
      const failed = world.db.transaction(async (tx) => {
        await queue.addIn(tx, 'queue', ['c'])
        throw new Error('rolled back')
      })
      await expect(failed).rejects.toThrow('rolled back')
      await world.db.transaction((tx) => queue.addIn(tx, 'queue', ['a', 'b', 'a']))
      await eventually(() => expect(seen.keys.toSorted()).toEqual(['a', 'b']))
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
      expect(seen.keys).toHaveLength(2)
    })

    it('adds nothing when there is nothing to add', async () => {
      const { world, queue } = await alone(makeWorld)
      await world.db.transaction((tx) => queue.addIn(tx, 'queue', []))
      expect(await world.stored('queue')).toEqual([])
    })

    it('keeps queues separate', async () => {
      const { world, queue } = await alone(makeWorld)
      const seen = record(queue)
      await queue.add('another queue', 'a')
      await queue.add('queue', 'b')
      await eventually(() => expect(seen.keys).toEqual(['b']))
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
      expect(await world.stored('another queue')).not.toEqual([])
    })

    it('accepts any text as a key', async () => {
      const { world, queue } = await alone(makeWorld)
      const seen = record(queue)
      const keys = ["'; drop table jobs", '会議 \n"x" \\', '%_', '12345', 'a:b:c', '0:1']
      for (const key of keys) await queue.add('queue', key)
      await eventually(() => expect(seen.keys.toSorted()).toEqual(keys.toSorted()))
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
    })
  })

  describe(`${title}: many jobs`, () => {
    it('runs every job, never more at once than the concurrency', async () => {
      const { world, one, other } = await two(makeWorld)
      const seen = new Set<string>()
      let running = 0
      let most = 0
      let runs = 0
      const run: Run = async (key) => {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        runs += 1
        seen.add(key)
        return undefined
      }
      const keys = Array.from({ length: 1000 }, (_, i) => `k${i}`)
      one.work('queue', { concurrency: 7 }, run)
      other.work('queue', { concurrency: 3 }, run)
      await world.db.transaction((tx) => one.addIn(tx, 'queue', keys.slice(0, 500)))
      await Promise.all(keys.slice(500).map((key) => other.add('queue', key)))
      await eventually(() => expect(seen.size).toBe(1000))
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
      expect(runs).toBe(1000)
      expect(most).toBeLessThanOrEqual(10)
    })

    it('leaves jobs to other processes when one process is at its limit', async () => {
      const { world, one, other } = await two(makeWorld, 600_000)
      const first = gated(one, { concurrency: 1 })
      const second = gated(other, { concurrency: 1 })
      await world.db.transaction((tx) => one.addIn(tx, 'queue', ['a', 'b', 'c']))
      await eventually(() => expect([...first.running, ...second.running]).toHaveLength(2))
      first.open()
      second.open()
      await eventually(async () => expect(await world.stored('queue')).toEqual([]))
      expect([...first.started, ...second.started].toSorted()).toEqual(['a', 'b', 'c'])
    })

    it('lets a second process run jobs while the first is busy', async () => {
      const { one, other } = await two(makeWorld)
      const first = gated(one, { concurrency: 1 })
      const second = gated(other, { concurrency: 1 })
      await one.add('queue', 'a')
      await eventually(() => expect([...first.running, ...second.running]).toEqual(['a']))
      await one.add('queue', 'b')
      await eventually(() => expect([...first.running, ...second.running].toSorted()).toEqual(['a', 'b']))
      first.release()
      second.release()
    })
  })
}
