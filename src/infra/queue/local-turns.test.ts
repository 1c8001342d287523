import { describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { systemClock } from '../../lib/clock.ts'
import { LocalTurns } from './local-turns.ts'

describe('turns without a shared queue', () => {
  it('run once for many adds, at the earliest time, and again when added while they run', async () => {
    const started: string[] = []
    const ends: (() => void)[] = []
    const turns = new LocalTurns(systemClock, 2, async (subject) => {
      started.push(subject)
      await new Promise<void>((resolve) => ends.push(resolve))
      return undefined
    })
    turns.add('a', 60_000)
    turns.add('a', 0)
    turns.add('a', 60_000)
    await eventually(() => expect(started).toEqual(['a']))
    turns.add('a', 0)
    turns.add('a', 0)
    ends[0]?.()
    await eventually(() => expect(started).toEqual(['a', 'a']))
    ends[1]?.()
    turns.stop()
    await turns.settled()
  })

  it('never run more at once than asked for, and miss none', async () => {
    let running = 0
    let most = 0
    const seen = new Set<string>()
    const turns = new LocalTurns(systemClock, 3, async (subject) => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
      seen.add(subject)
      return undefined
    })
    for (let i = 0; i < 100; i += 1) turns.add(`s${i}`, i % 2)
    await eventually(() => expect(seen.size).toBe(100))
    expect(most).toBe(3)
    turns.stop()
  })

  it('go on with the failures they had', async () => {
    const attempts: number[] = []
    const turns = new LocalTurns(systemClock, 1, async (_subject, failures) => {
      attempts.push(failures)
      return failures < 2 ? { nextMs: 1, attempts: failures + 1 } : undefined
    })
    turns.add('a', 0)
    await eventually(() => expect(attempts).toEqual([0, 1, 2]))
    turns.stop()
  })

  it('are given away with their failures while they wait', () => {
    const turns = new LocalTurns(systemClock, 1, async () => undefined)
    turns.add('a', 60_000, 3)
    turns.add('b', 60_000)
    turns.remove('b')
    expect(turns.handOver()).toEqual([{ subject: 'a', delayMs: expect.closeTo(60_000, -3), attempts: 3 }])
    expect(turns.handOver()).toEqual([])
    turns.stop()
  })
})
