import { expect, it } from 'vitest'
import { FEWEST_SENDERS, nextSenderLimit } from './sender-limit.ts'

it('allows one more request at once for each quick success, up to 32, and eight after a failure or a slow response', () => {
  const quick = { error: null, durationMs: 40 }
  let limit = FEWEST_SENDERS
  const limits = Array.from({ length: 30 }, () => {
    limit = nextSenderLimit(limit, quick)
    return limit
  })
  expect([limits[0], limits[22], limits[23], limits[29]]).toEqual([9, 31, 32, 32])
  expect(nextSenderLimit(limit, { ...quick, durationMs: 2000 })).toBe(8)
  expect(nextSenderLimit(limit, { ...quick, error: { kind: 'reset', message: '' } })).toBe(8)
})
