import { describe, expect, it } from 'vitest'
import { eventually } from '../../test/kit/eventually.ts'
import { silentLog } from '../platform/log/index.ts'
import { warmUp, warmUpSteps } from './warm-up.ts'

describe('what is done after the start', () => {
  it('leaves turns to others after long steps, and none between short ones', async () => {
    const order: string[] = []
    const long = (name: string) => () => {
      order.push(name)
      setImmediate(() => order.push('others'))
      const startedMs = performance.now()
      while (performance.now() - startedMs < 6) {}
    }
    const short = (name: string) => () => void order.push(name)
    const part = warmUp(
      () => ({ first: [long('a'), long('b'), short('c'), short('d')], later: [short('e')] }),
      silentLog,
    )
    part.start?.()
    await eventually(() => expect(order.at(-1)).toBe('e'))
    await part.stop(0)
    expect(order).toEqual(['a', 'others', 'b', 'others', 'c', 'd', 'e'])
  })

  it('takes its time with what is needed later, and ends at once when the service stops', async () => {
    const done: string[] = []
    const later = Array.from({ length: 1000 }, () => () => done.push('later'))
    const part = warmUp(() => ({ first: [() => done.push('first')], later }), silentLog)
    part.start?.()
    await eventually(() => expect(done).toContain('later'))
    await part.stop(0)
    const count = done.length
    expect(count).toBeLessThan(later.length)
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(done).toHaveLength(count)
    expect(done[0]).toBe('first')
  })

  it('continues after a step that takes its time elsewhere, and ends when the service stops', async () => {
    const done: string[] = []
    let end = () => {}
    const elsewhere = () => new Promise<void>((resolve) => (end = resolve))
    const part = warmUp(() => ({ first: [elsewhere, () => done.push('next')], later: [] }), silentLog)
    part.start?.()
    expect(done).toEqual([])
    const stopped = part.stop(0)
    end()
    await stopped
    expect(done).toEqual([])
  })

  it('begins with what the first account needs', () => {
    const compile = (path: string) => ({ path, compile: () => path })
    const { first, later } = warmUpSteps(() => 'imap', [compile('/usage'), compile('/accounts/:accountId/messages')])
    expect([first[0]?.(), first.at(-1)?.(), first.length]).toEqual(['imap', '/accounts/:accountId/messages', 4])
    expect(later.map((step) => step())).toEqual(['/usage'])
  })
})
