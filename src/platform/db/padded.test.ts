import { expect, it } from 'vitest'
import { padded } from './padded.ts'

it('repeats the last value of a list up to a power of two', () => {
  expect([[], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4, 5]].map((list) => padded(list))).toEqual([
    [],
    [1],
    [1, 2],
    [1, 2, 3, 3],
    [1, 2, 3, 4, 5, 5, 5, 5],
  ])
})
