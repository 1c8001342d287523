import { describe, expect, it } from 'vitest'
import { spentCpuMs } from '../../../test/kit/measure/event-loop.ts'
import { fc } from '../../../test/kit/random/random.ts'
import { exceededJsonLimit } from './json-limits.ts'

/** Levels and values of a parsed value, as the limits count them. */
function measureShape(value: unknown): { depth: number; values: number } {
  if (value === null || typeof value !== 'object') return { depth: 0, values: 1 }
  const inner = Object.values(value).map(measureShape)
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    values: 1 + inner.reduce((sum, { values }) => sum + values, 0),
  }
}

describe('JSON limits', () => {
  it('count the levels and values of any JSON text without parsing it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const { depth, values } = measureShape(value)
        expect(exceededJsonLimit(text, { depth, values })).toBeUndefined()
        if (depth > 0) expect(exceededJsonLimit(text, { depth: depth - 1, values })).toBe('depth')
        if (values > 1) expect(exceededJsonLimit(text, { depth, values: values - 1 })).toBe('values')
      }),
    )
  })

  it('take linear time for quotes behind backslashes', async () => {
    const text = `"${'\\"'.repeat(500_000)}${'\\\\'.repeat(500_000)}"`
    const spentMs = await spentCpuMs(() =>
      expect(exceededJsonLimit(`[${text},[]]`, { depth: 1, values: 10 })).toBe('depth'),
    )
    expect(spentMs).toBeLessThan(1000)
  })
})
