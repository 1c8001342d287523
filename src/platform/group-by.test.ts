import { expect, it } from 'vitest'
import { spentCpuMs } from '../../test/kit/measure/event-loop.ts'
import { groupBy } from './group-by.ts'

it('groups items in their order', () => {
  const groups = groupBy([3, 1, 4, 1, 5, 9], (number) => (number % 2 === 0 ? 'even' : 'odd'))
  expect([...groups]).toEqual([
    ['odd', [3, 1, 1, 5, 9]],
    ['even', [4]],
  ])
})

it('takes little for a large group', async () => {
  const items = Array.from({ length: 500_000 }, (_, number) => number)
  expect(await spentCpuMs(() => groupBy(items, () => 'one'))).toBeLessThan(1000)
})
