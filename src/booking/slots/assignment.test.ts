import { expect, it } from 'vitest'
import { inOrderOfLoad, type Load } from './assignment.ts'

it('prefers fewer bookings per weight, then who waited longest, then the lower id', () => {
  const load = (count: number, latest: string): Load => ({ count, latest })
  const order = (loads: Record<string, Load>, weights?: Record<string, number>) =>
    inOrderOfLoad(['b', 'c', 'a'], new Map(Object.entries(loads)), weights)
  expect(order({})).toEqual(['a', 'b', 'c'])
  expect(order({ a: load(1, 'bkg_1') })).toEqual(['b', 'c', 'a'])
  expect(order({ a: load(3, 'bkg_9'), b: load(2, 'bkg_8'), c: load(2, 'bkg_7') })).toEqual(['c', 'b', 'a'])
  expect(order({ a: load(3, 'bkg_9'), b: load(2, 'bkg_8'), c: load(2, 'bkg_7') }, { a: 2 })).toEqual(['a', 'c', 'b'])
  // Never assigned comes before assigned long ago.
  expect(order({ a: load(0, 'bkg_1'), b: load(0, 'bkg_0') })).toEqual(['c', 'b', 'a'])
})

it('gives each host its share', () => {
  const weights = { a: 1, b: 2, c: 3 }
  const counts = new Map<string, Load>()
  for (let booking = 100; booking < 160; booking += 1) {
    const [host = ''] = inOrderOfLoad(['a', 'b', 'c'], counts, weights)
    counts.set(host, { count: (counts.get(host)?.count ?? 0) + 1, latest: `bkg_${booking}` })
  }
  expect([...counts].map(([host, { count }]) => [host, count]).sort()).toEqual([
    ['a', 10],
    ['b', 20],
    ['c', 30],
  ])
})
