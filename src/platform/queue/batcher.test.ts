import { describe, expect, it } from 'vitest'
import { type Addition, batcher } from './batcher.ts'

describe('a batcher of additions', () => {
  it('holds one entry per job, the earliest, while a write takes long', async () => {
    const writes: Addition[][] = []
    let end = () => {}
    const add = batcher<Addition>((batch) => {
      writes.push([...batch])
      return new Promise((resolve) => {
        end = resolve
      })
    })
    const first = add({ queue: 'queue', key: 'first', delayMs: 0 })
    await Promise.resolve()
    await Promise.resolve()
    const later = Array.from({ length: 10_000 }, (_, index) =>
      add({ queue: 'queue', key: `k${index % 3}`, delayMs: 10_000 - index }),
    )
    expect(writes).toEqual([[{ queue: 'queue', key: 'first', delayMs: 0 }]])
    end()
    await first
    await Promise.resolve()
    expect(writes[1]).toEqual([
      { queue: 'queue', key: 'k0', delayMs: 1 },
      { queue: 'queue', key: 'k1', delayMs: 3 },
      { queue: 'queue', key: 'k2', delayMs: 2 },
    ])
    end()
    await Promise.all(later)
    expect(writes).toHaveLength(2)
  })

  it('fails the callers of a write that failed, and no others', async () => {
    let writes = 0
    const add = batcher<Addition>(async () => {
      writes += 1
      if (writes === 1) throw new Error('the database is away')
    })
    await expect(add({ queue: 'queue', key: 'a', delayMs: 0 })).rejects.toThrow('away')
    await add({ queue: 'queue', key: 'a', delayMs: 0 })
  })
})
