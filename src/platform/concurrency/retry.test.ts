import { expect, it } from 'vitest'
import { backoffMs, retryAfterMs } from './retry.ts'

it('doubles up to the cap, and jitters over the upper half', () => {
  const backoff = { baseMs: 100, capMs: 1000 }
  expect([1, 2, 3, 4, 5, 60].map((attempt) => backoffMs(attempt, backoff, () => 1))).toEqual([
    100, 200, 400, 800, 1000, 1000,
  ])
  expect(backoffMs(3, backoff, () => 0)).toBe(200)
})

it('reads Retry-After as seconds or as a date, and ignores the rest', () => {
  const nowMs = Date.UTC(2026, 0, 1)
  expect(retryAfterMs('120', nowMs)).toBe(120_000)
  expect(retryAfterMs('Thu, 01 Jan 2026 00:00:05 GMT', nowMs)).toBe(5000)
  expect(retryAfterMs('Wed, 31 Dec 2025 00:00:00 GMT', nowMs)).toBe(0)
  expect(retryAfterMs('9999999999', nowMs)).toBe(86_400_000)
  expect(retryAfterMs('Fri, 31 Dec 9999 23:59:59 GMT', nowMs)).toBe(86_400_000)
  expect(retryAfterMs('soon', nowMs)).toBeUndefined()
  expect(retryAfterMs(undefined, nowMs)).toBeUndefined()
})
