import { expect, it } from 'vitest'
import { fixedClock } from '../../lib/clock.ts'
import { hosts } from './hosts.ts'

function entered(place: ReturnType<ReturnType<typeof hosts>['enter']>) {
  if (!place.admitted) throw new Error('not admitted')
  return place
}

it('a host takes its share of the places and no more, whatever the others do', () => {
  const places = hosts(fixedClock(0), 2)
  const first = entered(places.enter('a', true))
  entered(places.enter('a', true))
  expect(places.enter('a', true)).toMatchObject({ admitted: false })
  entered(places.enter('b', true))
  first.leave('well')
  first.leave('well')
  entered(places.enter('a', true))
  expect(places.enter('a', true)).toMatchObject({ admitted: false })
})

it('a host that cannot be reached is tried ever more seldom, and by everybody once it can', () => {
  const clock = fixedClock(0)
  const places = hosts(clock, 5)
  for (let n = 0; n < 20; n += 1) {
    clock.advance(60_000)
    entered(places.enter('a', false)).leave('down')
  }
  expect(places.failures('a')).toBe(20)
  const refused = places.enter('a', false)
  expect(refused).toMatchObject({ admitted: false })
  if (!refused.admitted) expect(refused.waitMs).toBeGreaterThan(10_000)
  entered(places.enter('a', true)).leave('failed')
  clock.advance(60_000)
  entered(places.enter('a', false)).leave('well')
  expect(places.failures('a')).toBe(0)
  entered(places.enter('a', false))
})
