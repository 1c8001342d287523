import { describe, expect, it } from 'vitest'
import { catalogue } from '../../../app/feature-list.ts'
import { rotated, validSecrets } from '../endpoints/endpoint.ts'
import { isSubscription, subscribes } from '../endpoints/subscriptions.ts'
import { retryDelayMs } from './retry-schedule.ts'

const HOUR_MS = 60 * 60_000

describe('the delay before the next attempt', () => {
  const fixed = { retryDelayMs: 1000, retryStrategy: 'fixed' } as const
  const exponential = { retryDelayMs: 1000, retryStrategy: 'exponential' } as const

  it('is always retryDelayMs, zero included', () => {
    expect([1, 2, 20].map((attempt) => retryDelayMs(fixed, attempt))).toEqual([1000, 1000, 1000])
    expect(retryDelayMs({ ...fixed, retryDelayMs: 0 }, 1)).toBe(0)
  })

  it('doubles with the exponential strategy, up to a day', () => {
    expect([1, 2, 3, 4].map((attempt) => retryDelayMs(exponential, attempt))).toEqual([1000, 2000, 4000, 8000])
    expect(retryDelayMs({ ...exponential, retryDelayMs: HOUR_MS }, 20)).toBe(24 * HOUR_MS)
  })

  it('is extended by Retry-After up to a day, and never shortened', () => {
    expect(retryDelayMs(fixed, 1, 5000)).toBe(5000)
    expect(retryDelayMs(fixed, 1, 10)).toBe(1000)
    expect(retryDelayMs(fixed, 1, 48 * HOUR_MS)).toBe(24 * HOUR_MS)
  })
})

describe('the secrets of an endpoint', () => {
  it('sign together for a day after each rotation, the newest first', () => {
    const first = rotated([], 'one', 0)
    const second = rotated(first, 'two', HOUR_MS)
    const third = rotated(second, 'three', 2 * HOUR_MS)
    expect(validSecrets(third, 2 * HOUR_MS)).toEqual(['three', 'two', 'one'])
    expect(validSecrets(third, 25 * HOUR_MS)).toEqual(['three', 'two'])
    expect(validSecrets(third, 26 * HOUR_MS)).toEqual(['three'])
    expect(rotated(third, 'four', 25 * HOUR_MS).map(({ secret }) => secret)).toEqual(['four', 'three', 'two'])
  })

  it('are not duplicated when the same secret is set again', () => {
    expect(rotated(rotated([], 'one', 0), 'one', 1)).toEqual([{ secret: 'one', until: null }])
  })

  it('are removed at once when the endpoint becomes unsigned', () => {
    expect(rotated(rotated([], 'one', 0), null, 1)).toEqual([])
  })
})

describe('subscriptions', () => {
  it.each([
    ['message.received', true],
    ['*', true],
    ['calendar.*', true],
    ['calendar.event.*', true],
    ['message', false],
    ['message*', false],
    ['mess.*', false],
    ['.*', false],
    ['', false],
    ['message.received.*', false],
  ])('%j is known: %s', (text, expected) => expect(isSubscription(text, catalogue)).toBe(expected))

  it('cover their own type, a prefix, or every type', () => {
    expect(subscribes([], 'booking.created')).toBe(true)
    expect(subscribes(['message.*'], 'message.sent')).toBe(true)
    expect(subscribes(['message.*'], 'mailbox.changed')).toBe(false)
    expect(subscribes(['mailbox.changed', 'message.sent'], 'message.sent')).toBe(true)
  })
})
