import { expect, it } from 'vitest'
import { idGenerator } from './ids.ts'
import { fixedClock } from './time/clock.ts'

it('makes ids that sort in the order they were made, also within one millisecond', () => {
  const ids = idGenerator(fixedClock(1_700_000_000_000))
  const made = Array.from({ length: 5000 }, () => ids('msg'))
  expect([...made].sort()).toEqual(made)
  expect(new Set(made).size).toBe(made.length)
})

it('keeps the order when the clock steps back', () => {
  const clock = fixedClock(1_700_000_000_000)
  const ids = idGenerator(clock)
  const before = ids('evt')
  clock.advance(-60_000)
  expect(ids('evt') > before).toBe(true)
})

it('carries its prefix and 26 characters that are safe in a URL', () => {
  expect(idGenerator(fixedClock(0))('acc')).toMatch(/^acc_[0-9a-hjkmnp-tv-z]{26}$/)
})
