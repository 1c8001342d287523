import { expect, it } from 'vitest'
import { fitExponent } from './exponent.ts'

const SIZES = [100_000, 1_000_000, 10_000_000]

it.each([0, 1, 2])('finds the exponent %d of a power law', (exponent) => {
  const points = SIZES.map((size) => ({ size, cost: 3 * size ** exponent }))
  expect(fitExponent(points)).toBeCloseTo(exponent)
})

it('is above 1 when the cost of an item grows with the logarithm of the size', () => {
  const points = SIZES.map((size) => ({ size, cost: size * Math.log(size) }))
  expect(fitExponent(points)).toBeCloseTo(1.073, 3)
})

it('lies between points that are on no line', () => {
  const points = [
    { size: 1, cost: 1 },
    { size: 10, cost: 100 },
    { size: 100, cost: 100 },
  ]
  expect(fitExponent(points)).toBeCloseTo(1)
})

it('is not a number for one size', () => {
  expect(fitExponent([{ size: 10, cost: 10 }])).toBeNaN()
})
