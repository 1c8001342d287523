import { describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import type { Db } from '../db/index.ts'
import type { Queue, Run, Worker } from './queue.ts'

/** Some processes around one empty queue. Kinds are opened with polls of 100 ms and backoffs of 20 to 100 ms. */
export interface QueueWorld {
  db: Db
  /** Joins as the process with this id; closed after the test. */
  join(instanceId: string): Promise<Queue>
  /** A real process that runs one job of the lane, is in the middle of it, and is killed with SIGKILL. */
  crash(instanceId: string, lane: string, leaseMs: number): Promise<void>
}

/** What every kind of queue does; its test file calls this with how to make a world. */
export function describeQueue(title: string, makeWorld: () => Promise<QueueWorld>): void {
  async function alone() {
    const world = await makeWorld()
    return { world, queue: await world.join('ins_1') }
  }

  async function two() {
    const world = await makeWorld()
    return { world, one: await world.join('ins_1'), other: await world.join('ins_2') }
  }

  describe(`${title}: adding`, () => {
    it('runs what is added, soon', async () => {
      const { queue } = await alone()
      const seen = record(queue)
      await queue.add('lane', 'a')
      await eventually(() => expect(seen.subjects).toEqual(['a']))
    })

    it('runs what was added before anyone worked', async () => {
      const { queue } = await alone()
      await queue.add('lane', 'a')
      const seen = record(queue)
      await eventually(() => expect(seen.subjects).toEqual(['a']))
    })

    it('makes one run of many adds while the subject waits', async () => {
      const { queue } = await alone()
      await Promise.all(Array.from({ length: 50 }, () => queue.add('lane', 'a')))
      await queue.add('lane', 'a')
      const seen = record(queue)
      await eventually(async () => expect(await queue.find('lane', 'a')).toMatchObject({ state: 'idle' }))
      expect(seen.subjects).toEqual(['a'])
    })

    it('keeps the earlier time, in whichever order they come', async () => {
      const { queue } = await alone()
      await queue.add('lane', 'a', { delayMs: 60_000 })
      await queue.add('lane', 'a')
      await queue.add('lane', 'b')
      await queue.add('lane', 'b', { delayMs: 60_000 })
      const seen = record(queue)
      await eventually(() => expect(seen.subjects.toSorted()).toEqual(['a', 'b']))
    })

    it('waits for a delay, and not longer', async () => {
      const { queue } = await alone()
      const seen = record(queue)
      const startedAt = performance.now()
      await queue.add('lane', 'a', { delayMs: 300 })
      expect(await queue.find('lane', 'a')).toMatchObject({ state: 'waiting' })
      await eventually(() => expect(seen.subjects).toEqual(['a']))
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(295)
    })

    it('runs once more when it is added while it runs', async () => {
      const { queue } = await alone()
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
      const { one, other } = await two()
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

    it('reaches a worker of another process', async () => {
      const { one, other } = await two()
      const seen = record(other)
      await one.add('lane', 'a')
      await eventually(() => expect(seen.subjects).toEqual(['a']))
    })

    it('takes effect with the commit, and not at all after a roll-back', async () => {
      const { world, queue } = await alone()
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
      const { world, queue } = await alone()
      await world.db.transaction((tx) => queue.addIn(tx, 'lane', []))
      expect(await queue.stats('lane')).toMatchObject({ subjects: 0 })
    })

    it('keeps lanes apart', async () => {
      const { queue } = await alone()
      const seen = record(queue)
      await queue.add('elsewhere', 'a')
      await queue.add('lane', 'b')
      await eventually(() => expect(seen.subjects).toEqual(['b']))
      expect(await queue.lanes('')).toEqual(['elsewhere', 'lane'])
      expect(await queue.lanes('el')).toEqual(['elsewhere'])
    })

    it('takes any text as a subject', async () => {
      const { queue } = await alone()
      const seen = record(queue)
      const subjects = ["'; drop table jobs", '会議 \n"x" \\', '%_', '12345']
      for (const subject of subjects) await queue.add('lane', subject)
      await eventually(() => expect(seen.subjects.toSorted()).toEqual(subjects.toSorted()))
    })
  })

  describe(`${title}: many subjects`, () => {
    it('runs every one, never more at once than asked for', async () => {
      const { world, one, other } = await two()
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

    it('lets a second process help when the first is busy', async () => {
      const { one, other } = await two()
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

  describe(`${title}: endings`, () => {
    it('tries a failed run again after a backoff, counting failures in a row', async () => {
      const { queue } = await alone()
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
      const { queue } = await alone()
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
      const { queue } = await alone()
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
      const { queue } = await alone()
      await queue.add('lane', 'a', { delayMs: 60_000 })
      await queue.remove('lane', 'a')
      await queue.remove('lane', 'never there')
      expect(await queue.find('lane', 'a')).toBeUndefined()
      expect(await queue.stats('lane')).toMatchObject({ subjects: 0 })
    })

    it('forgets a subject that runs when its run is over, and keeps what the lane counted', async () => {
      const { queue } = await alone()
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
      const { one, other } = await two()
      const gate = held(one)
      const seen = record(other)
      await one.pause('lane')
      await one.add('lane', 'a')
      await one.resume('lane')
      await eventually(() => expect(gate.running.length + seen.subjects.length).toBe(1))
      if (seen.subjects.length === 1) return // The other was faster; nothing to see this time.
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
      const { queue } = await alone()
      await queue.add('lane:1', 'a')
      await queue.add('lane:1', 'b')
      await queue.add('lane:2', 'c')
      expect(await queue.dropLane('lane:1')).toBe(2)
      expect(await queue.dropLane('lane:1')).toBe(0)
      expect(await queue.lanes('lane:')).toEqual(['lane:2'])
    })
  })

  describe(`${title}: operating`, () => {
    it('takes nothing while the lane is paused, and all of it once resumed', async () => {
      const { one, other } = await two()
      await one.pause('lane')
      const seen = record(other)
      await one.add('lane', 'a')
      await other.add('lane', 'b')
      expect(await other.stats('lane')).toMatchObject({ paused: true, waiting: 2 })
      expect(seen.subjects).toEqual([])
      await one.resume('lane')
      await eventually(() => expect(seen.subjects.toSorted()).toEqual(['a', 'b']))
      expect(await one.stats('lane')).toMatchObject({ paused: false })
    })

    it('clears delays and backoffs, so that everything runs now', async () => {
      const { queue } = await alone()
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
      const { queue } = await alone()
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
      const { queue } = await alone()
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
      const { queue } = await alone()
      await queue.ping()
      await queue.close()
      await queue.close()
    })

    it('refuses a second worker of one lane in one process, until the first has stopped', async () => {
      const { queue } = await alone()
      const worker = queue.work('lane', { concurrency: 1 }, async () => undefined)
      expect(() => queue.work('lane', { concurrency: 1 }, async () => undefined)).toThrow('already works')
      await worker.stop(0)
      const seen = record(queue)
      await queue.add('lane', 'a')
      await eventually(() => expect(seen.subjects).toEqual(['a']))
    })
  })

  describe(`${title}: leases`, () => {
    it('keeps the job of a run that takes longer than its lease', async () => {
      const { one, other } = await two()
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
      const { one, other } = await two()
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
      const { queue } = await alone()
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
      const { one, other } = await two()
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
      const { queue } = await alone()
      const gate = held(queue)
      await queue.add('lane', 'a')
      await eventually(() => expect(gate.running).toEqual(['a']))
      await gate.worker.stop(0)
      expect(await queue.find('lane', 'a')).toMatchObject({ state: 'active' })
      gate.release()
    })

    it('stops at once when nothing runs', async () => {
      const { queue } = await alone()
      const worker = queue.work('lane', { concurrency: 1 }, async () => undefined)
      const startedAt = performance.now()
      await worker.stop(60_000)
      expect(performance.now() - startedAt).toBeLessThan(5000)
    })
  })
}

/** Works the lane and writes down the subjects. */
function record(queue: Queue): { subjects: string[] } {
  const subjects: string[] = []
  queue.work('lane', { concurrency: 10 }, async (subject) => {
    subjects.push(subject)
    return undefined
  })
  return { subjects }
}

interface Gate {
  worker: Worker
  /** Every run, in order. */
  started: string[]
  running: string[]
  signals: AbortSignal[]
  /** Lets the runs under way end. */
  release(): void
  /** Lets later ones through. */
  open(): void
}

/** Works the lane with runs that end only when they are told to. */
function held(queue: Queue, options: { concurrency?: number; leaseMs?: number } = {}): Gate {
  const waiting: (() => void)[] = []
  let isOpen = false
  const gate: Omit<Gate, 'worker'> = {
    started: [],
    running: [],
    signals: [],
    release() {
      for (const end of waiting.splice(0)) end()
    },
    open() {
      isOpen = true
      gate.release()
    },
  }
  const worker = queue.work('lane', { concurrency: 10, ...options }, async (subject, { signal }) => {
    gate.started.push(subject)
    gate.running.push(subject)
    gate.signals.push(signal)
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
    gate.running.splice(gate.running.indexOf(subject), 1)
    return undefined
  })
  return Object.assign(gate, { worker })
}
