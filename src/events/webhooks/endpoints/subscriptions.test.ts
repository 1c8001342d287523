import { describe, expect, it } from 'vitest'
import { catalogue } from '../../../app/feature-list.ts'
import { isSubscription, subscribes } from './subscriptions.ts'

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
