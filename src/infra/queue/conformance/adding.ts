import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../test/kit/eventually.ts'
import type { Run } from '../queue.ts'
import { alone, held, type MakeWorld, record, two } from './world.ts'

/** Adding, coalescing, and running many subjects. */
export function adding(title: string, makeWorld: MakeWorld): void {
  describe(`${title}: adding`, () => {
    it('runs what is added, soon', async () => {
      const { queue } = await alone(makeWorld)
      const seen = record(queue)
      await queue.add('lane', 'a')
      await eventually(() => expect(seen.subjects).toEqual(['a']))
    })

    it('runs what was added before anyone worked', async () => {
      const { queue } = await alone(makeWorld)
      await queue.add('lane', 'a')
      const seen = record(queue)
      await eventually(() => expect(seen.subjects).toEqual(['a']))
    })

    it('makes one run of many adds while the subject waits', async () => {
      const { queue } = await alone(makeWorld)
      await Promise.all(Array.from({ length: 50 }, () => queue.add('lane', 'a')))
      await queue.add('lane', 'a')
      const seen = record(queue)
      await eventually(async () => expect(await queue.find('lane', 'a')).toMatchObject({ state: 'idle' }))
      expect(seen.subjects).toEqual(['a'])
    })

    it('keeps the earlier time, in whichever order they come', async () => {
      const { queue } = await alone(makeWorld)
      await queue.add('lane', 'a', { delayMs: 60_000 })
      await queue.add('lane', 'a')
      await queue.add('lane', 'b')
      await queue.add('lane', 'b', { delayMs: 60_000 })
      const seen = record(queue)
      await eventually(() => expect(seen.subjects.toSorted()).toEqual(['a', 'b']))
    })

    it('waits for a delay, and not longer', async () => {
      const { queue } = await alone(makeWorld)
      const seen = record(queue)
      const startedAt = performance.now()
      await queue.add('lane', 'a', { delayMs: 300 })
      expect(await queue.find('lane', 'a')).toMatchObject({ state: 'waiting' })
      await eventually(() => expect(seen.subjects).toEqual(['a']))
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(295)
    })

    it('runs once more when it is added while it runs', async () => {
      const { queue } = await alone(makeWorld)
      const gate = held(queue)
      await queue.add('lane', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      await queue.add('lane', 'a')
      await queue.add('lane', 'a')
      expect(await queue.find('lane', 'a')).toMatchObject({ state: 'active', nextRunAt: expect.any(Number) })
      gate.release()
      await eventually(() => expect(gate.started).toEqual(['a', 'a']))
      gate.release()
      await eventually(async () => expect(await queue.find('lane', 'a')).toMatchObject({ state: 'idle' }))
      expect(gate.started).toEqual(['a', 'a'])
    })

    it('never runs a subject twice at the same time, however it is added', async () => {
      const { one, other } = await two(makeWorld)
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
      one.work('lane', { concurrency: 5 }, run)
      other.work('lane', { concurrency: 5 }, run)
      for (let i = 0; i < 60; i += 1) {
        await (i % 2 === 0 ? one : other).add('lane', 'a')
        await new Promise((resolve) => setImmediate(resolve))
      }
      await eventually(async () => expect(await one.find('lane', 'a')).toMatchObject({ state: 'idle' }))
      expect(most).toBe(1)
      expect(runs).toBeGreaterThan(1)
    })

    it('reaches a worker of another process without waiting for its poll', async () => {
      const { one, other } = await two(makeWorld, 600_000)
      const seen = record(other)
      await one.add('lane', 'a')
      await eventually(() => expect(seen.subjects).toEqual(['a']))
    })

    it('takes effect with the commit, and not at all after a roll-back', async () => {
      const { world, queue } = await alone(makeWorld)
      const seen = record(queue)
      await world.db.transaction((tx) => queue.addIn(tx, 'lane', ['a', 'b', 'a']))
      const failed = world.db.transaction(async (tx) => {
        await queue.addIn(tx, 'lane', ['c'])
        throw new Error('rolled back')
      })
      await expect(failed).rejects.toThrow('rolled back')
      await eventually(() => expect(seen.subjects.toSorted()).toEqual(['a', 'b']))
      expect(await queue.find('lane', 'c')).toBeUndefined()
    })

    it('adds nothing when there is nothing to add', async () => {
      const { world, queue } = await alone(makeWorld)
      await world.db.transaction((tx) => queue.addIn(tx, 'lane', []))
      expect(await queue.stats('lane')).toMatchObject({ subjects: 0 })
    })

    it('keeps lanes apart', async () => {
      const { queue } = await alone(makeWorld)
      const seen = record(queue)
      await queue.add('elsewhere', 'a')
      await queue.add('lane', 'b')
      await eventually(() => expect(seen.subjects).toEqual(['b']))
      expect(await queue.lanes('')).toEqual(['elsewhere', 'lane'])
      expect(await queue.lanes('el')).toEqual(['elsewhere'])
    })

    it('takes any text as a subject', async () => {
      const { queue } = await alone(makeWorld)
      const seen = record(queue)
      const subjects = ["'; drop table jobs", '会議 \n"x" \\', '%_', '12345']
      for (const subject of subjects) await queue.add('lane', subject)
      await eventually(() => expect(seen.subjects.toSorted()).toEqual(subjects.toSorted()))
    })
  })

  describe(`${title}: many subjects`, () => {
    it('runs every one, never more at once than asked for', async () => {
      const { world, one, other } = await two(makeWorld)
      const seen = new Set<string>()
      let running = 0
      let most = 0
      const run: Run = async (subject) => {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setImmediate(resolve))
        running -= 1
        seen.add(subject)
        return undefined
      }
      const subjects = Array.from({ length: 1000 }, (_, i) => `s${i}`)
      one.work('lane', { concurrency: 7 }, run)
      other.work('lane', { concurrency: 3 }, run)
      await world.db.transaction((tx) => one.addIn(tx, 'lane', subjects.slice(0, 500)))
      await Promise.all(subjects.slice(500).map((subject) => other.add('lane', subject)))
      await eventually(async () => expect(await one.stats('lane')).toMatchObject({ completed: 1000, active: 0 }))
      expect(seen.size).toBe(1000)
      expect(most).toBeLessThanOrEqual(10)
    })

    it('asks others for help with what it cannot take at once', async () => {
      const { world, one, other } = await two(makeWorld, 600_000)
      const first = held(one, { concurrency: 1 })
      const second = held(other, { concurrency: 1 })
      await world.db.transaction((tx) => one.addIn(tx, 'lane', ['a', 'b', 'c']))
      await eventually(() => expect([...first.running, ...second.running]).toHaveLength(2))
      first.open()
      second.open()
      await eventually(async () => expect(await one.stats('lane')).toMatchObject({ completed: 3, active: 0 }))
    })

    it('lets a second process help when the first is busy', async () => {
      const { one, other } = await two(makeWorld)
      const first = held(one, { concurrency: 1 })
      const second = held(other, { concurrency: 1 })
      await one.add('lane', 'a')
      await eventually(() => expect([...first.running, ...second.running]).toEqual(['a']))
      await one.add('lane', 'b')
      await eventually(() => expect([...first.running, ...second.running].toSorted()).toEqual(['a', 'b']))
      first.release()
      second.release()
    })
  })
}
