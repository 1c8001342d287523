import { AppError, type ErrorDetail } from '../../../platform/errors/app-error.ts'
import type { EventCatalogue } from '../../index.ts'

/** The default of `eventTypes`. */
export const DEFAULT_EVENT_TYPES = ['message.received', 'mailbox.changed']

const PREFIX_END = '.*'

/** True for an event type, `*`, and a prefix such as `message.*` that covers at least one of them. */
export function isSubscription(text: string, catalogue: EventCatalogue): boolean {
  if (text === '*') return true
  return catalogue.types.some((type) => covers(text, type))
}

/** Returns the subscriptions without duplicates. Throws validation_failed. */
export function validEventTypes(types: readonly string[], catalogue: EventCatalogue): string[] {
  const details: ErrorDetail[] = types.flatMap((type, index) =>
    isSubscription(type, catalogue) ? [] : [{ path: `body.eventTypes.${index}`, message: 'is not an event type' }],
  )
  if (details.length > 0) throw new AppError('validation_failed', { details })
  return [...new Set(types)]
}

/** Whether the subscriptions cover the type. An empty list covers every type. */
export function subscribes(subscriptions: readonly string[], type: string): boolean {
  return subscriptions.length === 0 || subscriptions.some((subscription) => covers(subscription, type))
}

function covers(subscription: string, type: string): boolean {
  if (subscription === type || subscription === '*') return true
  return subscription.endsWith(PREFIX_END) && type.startsWith(subscription.slice(0, -1))
}
