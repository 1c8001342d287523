import { describe, expect, it } from 'vitest'
import { eventually } from '../../test/kit/eventually.ts'
import { silentLog } from '../platform/log/index.ts'
import { warmUp } from './warm-up.ts'

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
    const part = warmUp(() => [long('a'), long('b'), short('c'), short('d'), short('e')], silentLog)
    part.start?.()
    await eventually(() => expect(order.at(-1)).toBe('e'))
    await part.stop(0)
    expect(order).toEqual(['a', 'others', 'b', 'others', 'c', 'd', 'e'])
  })

  it('continues after a step that takes its time elsewhere, and ends when the service stops', async () => {
    const done: string[] = []
    let end = () => {}
    const elsewhere = () => new Promise<void>((resolve) => (end = resolve))
    const part = warmUp(() => [elsewhere, () => done.push('next')], silentLog)
    part.start?.()
    expect(done).toEqual([])
    const stopped = part.stop(0)
    end()
    await stopped
    expect(done).toEqual([])
  })
})
