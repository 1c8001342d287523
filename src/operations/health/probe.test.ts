import { describe, expect, it } from 'vitest'
import { memory } from './probe.ts'

const NONE = 2 ** 64

describe('memory', () => {
  it('compares the heap with its own limit where no container has one', () => {
    const { limit, limitBytes, percentage, heapUsedBytes } = memory({ containerBytes: NONE, heapBytes: 1e9 })
    expect([limit, limitBytes]).toEqual(['heap', 1e9])
    expect(percentage).toBeCloseTo(heapUsedBytes / 1e7, 0)
    expect(memory({ containerBytes: 0, heapBytes: 1e9 }).limit).toBe('heap')
  })

  it('compares the process with the limit of its container when it reaches that first', () => {
    const { limit, limitBytes, percentage, rssBytes } = memory({ containerBytes: 1e9, heapBytes: 1e12 })
    expect([limit, limitBytes]).toEqual(['container', 1e9])
    expect(percentage).toBeCloseTo(rssBytes / 1e7, 0)
  })
})
