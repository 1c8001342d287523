import { expect, it } from 'vitest'
import { batches } from './batches.ts'
import { nextTurn } from './event-loop.ts'

it('combines the calls of one turn, and those that arrive while a batch is worked on', async () => {
  const seen: number[][] = []
  let finish = () => {}
  const double = batches<number, number>(async (items) => {
    seen.push([...items])
    if (seen.length === 1) await new Promise<void>((resolve) => (finish = resolve))
    return items.map((item) => 2 * item)
  }, 10)
  const first = [double(1), double(2)]
  await nextTurn()
  await nextTurn()
  const second = [double(3), double(4)]
  finish()
  expect(await Promise.all([...first, ...second])).toEqual([2, 4, 6, 8])
  expect(seen).toEqual([
    [1, 2],
    [3, 4],
  ])
})

it('limits a batch, in call order', async () => {
  const seen: number[][] = []
  const same = batches<number, number>(async (items) => {
    seen.push([...items])
    return items
  }, 2)
  expect(await Promise.all([1, 2, 3, 4, 5].map(same))).toEqual([1, 2, 3, 4, 5])
  expect(seen).toEqual([[1, 2], [3, 4], [5]])
})

it('rejects the calls of a batch that fails, and goes on with the next', async () => {
  const same = batches<number, number>(async (items) => {
    if (items.includes(1)) throw new Error('the disk is full')
    return items
  }, 2)
  const results = await Promise.allSettled([1, 2, 3].map(same))
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
})
