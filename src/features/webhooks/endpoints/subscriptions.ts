import type { EventCatalogue } from '../../../events/index.ts'

/** What `eventTypes` becomes when it is not given. */
export const DEFAULT_EVENT_TYPES = ['message.received', 'mailbox.changed']

const PREFIX_END = '.*'

/** True for a known type, `*`, and a prefix such as `message.*` that covers at least one known type. */
export function isSubscription(text: string, catalogue: EventCatalogue): boolean {
  if (text === '*') return true
  return catalogue.types.some((type) => covers(text, type))
}

/** Does this subscription cover the type? An empty list covers everything. */
export function subscribes(subscriptions: readonly string[], type: string): boolean {
  return subscriptions.length === 0 || subscriptions.some((subscription) => covers(subscription, type))
}

function covers(subscription: string, type: string): boolean {
  if (subscription === type || subscription === '*') return true
  return subscription.endsWith(PREFIX_END) && type.startsWith(subscription.slice(0, -1))
}
