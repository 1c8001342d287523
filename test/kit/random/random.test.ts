import { expect, inject, it } from 'vitest'
import { fc, random } from './random.ts'

const take = (next: () => number) => Array.from({ length: 100 }, next)

it('repeats its numbers in the same test and run, spread over 0 to 1', () => {
  const drawn = take(random())
  expect(take(random())).toEqual(drawn)
  expect(new Set(drawn).size).toBe(100)
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...drawn)).toBeLessThan(1)
  expect(drawn.filter((value) => value < 0.5).length).toBeGreaterThan(20)
})

it('gives every property the seed of the run', () => {
  expect(fc.readConfigureGlobal()?.seed).toBe(inject('seed'))
})
