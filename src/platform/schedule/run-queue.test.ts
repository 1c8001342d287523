import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { RunQueue } from './run-queue.ts'

const never = () => 0

function takeAll(queue: RunQueue, nowMs: number): string[] {
  const taken: string[] = []
  for (;;) {
    const id = queue.take(nowMs, never)
    if (id === undefined) return taken
    taken.push(id)
  }
}

describe('the queue of runs', () => {
  it('starts due accounts in order, as many as there are slots', () => {
    const queue = new RunQueue({ concurrency: 2, perGroup: 2 })
    for (const id of ['a', 'b', 'c']) queue.add(id, 'host')
    expect(takeAll(queue, 0)).toEqual(['a', 'b'])
    queue.finish('a', 50)
    expect(takeAll(queue, 0)).toEqual(['c'])
    queue.finish('b', 20)
    expect(queue.nextDueAt).toBe(20)
    expect(takeAll(queue, 19)).toEqual([])
    expect(takeAll(queue, 20)).toEqual(['b'])
  })

  it('limits a slow host to its share, and lets the other hosts take turns', () => {
    const queue = new RunQueue({ concurrency: 4, perGroup: 2 })
    for (const id of ['s1', 's2', 's3', 's4']) queue.add(id, 'slow')
    for (const id of ['x1', 'x2']) queue.add(id, 'x')
    queue.add('y1', 'y')
    expect(takeAll(queue, 0)).toEqual(['s1', 'x1', 'y1', 's2'])
    queue.finish('y1', undefined)
    expect(takeAll(queue, 0)).toEqual(['x2'])
    queue.finish('x1', undefined)
    expect(takeAll(queue, 0)).toEqual([])
    queue.finish('s2', undefined)
    expect(takeAll(queue, 0)).toEqual(['s3'])
  })

  it('runs an account once more when it was requested during its run', () => {
    const queue = new RunQueue({ concurrency: 2, perGroup: 2 })
    queue.add('a', '')
    expect(takeAll(queue, 0)).toEqual(['a'])
    queue.request('a')
    queue.request('a')
    expect(takeAll(queue, 0)).toEqual([])
    expect(queue.find('a')).toEqual({ state: 'running', dueAt: 0 })
    queue.finish('a', 1000)
    expect(takeAll(queue, 0)).toEqual(['a'])
    queue.finish('a', 1000)
    expect(takeAll(queue, 999)).toEqual([])
  })

  it('never runs an account twice at once, even when it was lost and regained', () => {
    const queue = new RunQueue({ concurrency: 2, perGroup: 2 })
    queue.add('a', '')
    expect(takeAll(queue, 0)).toEqual(['a'])
    queue.remove('a')
    expect(queue.has('a')).toBe(false)
    queue.add('a', 'elsewhere')
    expect(takeAll(queue, 0)).toEqual([])
    queue.finish('a', undefined)
    expect(takeAll(queue, 0)).toEqual(['a'])
  })

  it('delays an account that is held, and lets the next one start', () => {
    const queue = new RunQueue({ concurrency: 1, perGroup: 1 })
    queue.add('a', 'host')
    queue.add('b', 'host')
    expect(queue.take(0, (id) => (id === 'a' ? 30 : 0))).toBe('b')
    expect([queue.nextDueAt, queue.find('a')]).toEqual([30, { state: 'waiting', dueAt: 30 }])
  })

  it('behaves like a simple model in any order of operations', () => {
    const account = fc.integer({ min: 0, max: 7 })
    const command = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), account }),
      fc.record({ kind: fc.constant('request' as const), account }),
      fc.record({ kind: fc.constant('remove' as const), account }),
      fc.record({ kind: fc.constant('finish' as const), account, inMs: fc.option(fc.integer({ min: 0, max: 50 })) }),
      fc.record({ kind: fc.constant('take' as const), afterMs: fc.integer({ min: 0, max: 30 }) }),
    )
    fc.assert(
      fc.property(
        fc.array(command, { maxLength: 200 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        (commands, concurrency, perGroup) => {
          const queue = new RunQueue({ concurrency, perGroup })
          const model = new Model(concurrency, perGroup)
          let nowMs = 1
          for (const command of commands) {
            if (command.kind === 'take') {
              nowMs += command.afterMs
              const taken = takeAll(queue, nowMs)
              model.started(taken, nowMs)
            } else {
              const id = `acc_${command.account}`
              const group = `host_${command.account % 3}`
              if (command.kind === 'add') queue.add(id, group)
              else if (command.kind === 'finish')
                queue.finish(id, command.inMs === null ? undefined : nowMs + command.inMs)
              else queue[command.kind](id)
              model[command.kind](
                id,
                group,
                command.kind === 'finish' && command.inMs !== null ? nowMs + command.inMs : undefined,
              )
            }
            model.expectSame(queue)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})

/** A simple model of the same rules. It checks which starts are allowed, not the order in which groups take turns. */
class Model {
  readonly #concurrency: number
  readonly #perGroup: number
  readonly #known = new Map<string, { group: string; dueAt: number | undefined; since: number }>()
  readonly #running = new Map<string, string>()
  #requests = 0

  constructor(concurrency: number, perGroup: number) {
    this.#concurrency = concurrency
    this.#perGroup = perGroup
  }

  add(id: string, group: string): void {
    const entry = this.#known.get(id)
    const isInLine = entry?.dueAt === 0 && entry.group === group && !this.#running.has(id)
    if (!isInLine) this.#known.set(id, { group, dueAt: 0, since: this.#requests++ })
  }

  request(id: string): void {
    const entry = this.#known.get(id)
    if (entry !== undefined && entry.dueAt !== 0) this.#known.set(id, { ...entry, dueAt: 0, since: this.#requests++ })
  }

  remove(id: string): void {
    this.#known.delete(id)
  }

  finish(id: string, _group: string, dueAt: number | undefined): void {
    if (!this.#running.delete(id)) return
    const entry = this.#known.get(id)
    if (entry === undefined) return
    // An account that was requested during its run joins its queue now.
    if (entry.dueAt === 0) this.#known.set(id, { ...entry, since: this.#requests++ })
    else this.#known.set(id, { ...entry, dueAt })
  }

  /** Fails unless exactly these may start now, first in, first out within their group. */
  started(ids: readonly string[], nowMs: number): void {
    const due = () =>
      [...this.#known].filter(([id, { dueAt }]) => dueAt !== undefined && dueAt <= nowMs && !this.#running.has(id))
    for (const [id, entry] of due().sort(([, a], [, b]) => (a.dueAt ?? 0) - (b.dueAt ?? 0))) {
      if (entry.dueAt !== 0) this.#known.set(id, { ...entry, dueAt: 0, since: this.#requests++ })
    }
    for (const id of ids) {
      const entry = this.#known.get(id)
      if (entry === undefined) throw new Error(`${id} was started and is not known`)
      const line = due().filter(([, { group }]) => group === entry.group)
      const first = Math.min(...line.map(([, { since }]) => since))
      expect(entry.since).toBe(first)
      this.#known.set(id, { ...entry, dueAt: undefined })
      this.#running.set(id, entry.group)
      expect(this.#running.size).toBeLessThanOrEqual(this.#concurrency)
      expect(this.#runningIn(entry.group)).toBeLessThanOrEqual(this.#perGroup)
    }
    const startable = due().filter(([, { group }]) => this.#runningIn(group) < this.#perGroup)
    if (this.#running.size < this.#concurrency) expect(startable).toEqual([])
  }

  expectSame(queue: RunQueue): void {
    const { accounts: _, ...counts } = queue.counts
    const planned = [...this.#known].filter(([id]) => !this.#running.has(id)).map(([, { dueAt }]) => dueAt)
    expect(counts).toEqual({
      active: this.#running.size,
      waiting: planned.filter((dueAt) => dueAt === 0).length,
      delayed: planned.filter((dueAt) => dueAt !== undefined && dueAt > 0).length,
    })
    for (const [id] of this.#known) expect(queue.has(id)).toBe(true)
  }

  #runningIn(group: string): number {
    return [...this.#running.values()].filter((running) => running === group).length
  }
}
