import { expect, it } from 'vitest'
import { splitStep } from './split-step.ts'

it('splits a large step into parts of at most 100 changes, removals first, the cursor last', () => {
  const flags = (uid: number) => ({ uid, unread: true, starred: false })
  const step = {
    reset: false,
    refetched: false,
    added: [],
    cursor: 'after',
    total: 0,
    removed: Array.from({ length: 700 }, (_, n) => n),
    changed: Array.from({ length: 600 }, (_, n) => flags(n + 1000)),
  }
  const parts = splitStep(step)
  expect(parts.map((part) => [part.removed.length, part.changed.length, part.cursor])).toEqual([
    ...Array.from({ length: 3 }, () => [200, 0, undefined]),
    [100, 0, undefined],
    ...Array.from({ length: 2 }, () => [0, 200, undefined]),
    [0, 200, 'after'],
  ])
  expect(splitStep({ ...step, removed: [], changed: [] })).toMatchObject([{ cursor: 'after' }])
})
