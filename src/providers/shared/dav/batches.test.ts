import { expect, it } from 'vitest'
import { Batches } from './batches.ts'

const paths = (count: number) => Array.from({ length: count }, (_, at) => `/home/c/${at}.ics`)

function sizes(batches: Batches, sizeBytes: number, tookMs: number): number[] {
  const found: number[] = []
  for (let batch = batches.next(); batch !== undefined; batch = batches.next()) {
    found.push(batch.length)
    batches.record(batch, sizeBytes, tookMs)
  }
  return found
}

it('grows batches up to 1,000 objects while responses are small and soon complete', () => {
  expect(sizes(new Batches(paths(3500)), 100_000, 50)).toEqual([200, 400, 800, 1000, 1000, 100])
})

it('keeps their size when responses are large or slow', () => {
  expect(sizes(new Batches(paths(500)), 600_000, 50)).toEqual([200, 200, 100])
  expect(sizes(new Batches(paths(500)), 100_000, 1500)).toEqual([200, 200, 100])
})

it('continues with both halves of a batch that was too large, then with batches of that size', () => {
  const all = paths(500)
  const batches = new Batches(all)
  batches.halve(batches.next() ?? [])
  const order: string[][] = []
  for (let batch = batches.next(); batch !== undefined; batch = batches.next()) order.push([...batch])
  expect(order.map(({ length }) => length)).toEqual([100, 100, 100, 100, 100])
  expect(order.flat()).toEqual(all)
})

it('returns nothing without paths', () => {
  expect(new Batches([]).next()).toBeUndefined()
})
