import { describe, expect, it } from 'vitest'
import { fixedClock } from '../../platform/time/clock.ts'
import { timeZonesCheck } from './time-zones.ts'

const SHIPPED = { source: 'shipped', version: '2026f', released: '2026-10-29' } as const

describe('time zones', () => {
  it.each([
    ['2026-11-20T00:00:00Z', 'ok'],
    ['2027-04-20T00:00:00Z', 'ok'],
    ['2027-05-20T00:00:00Z', 'warning'],
  ])('of October 2026 are, at %s, %s', async (now, status) => {
    const { run } = timeZonesCheck(() => SHIPPED, fixedClock(Date.parse(now)))
    expect(await run()).toMatchObject({ status, message: expect.stringContaining('this program') })
  })
})
