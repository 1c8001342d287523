import type { Bus } from '../../../platform/bus/index.ts'

/** Notifies running workers of new deliveries for their endpoint. Hints only: workers also check every second. */
export interface DueHints {
  announce(endpointIds: readonly string[]): void
  /** One listener per endpoint and process (the queue runs a job key once at a time). Returns a function that unsubscribes. */
  listen(endpointId: string, onDue: () => void): () => void
  close(): void
}

const TOPIC = 'webhooks.due'
/** Ids have up to 64 characters and a hint up to 4 KB. */
const IDS_PER_HINT = 50

export function dueHints(bus: Bus): DueHints {
  const listeners = new Map<string, () => void>()
  const unsubscribe = bus.subscribe(TOPIC, (payload) => {
    for (const id of payload?.split(',') ?? []) listeners.get(id)?.()
  })
  return {
    announce(endpointIds) {
      for (let start = 0; start < endpointIds.length; start += IDS_PER_HINT) {
        bus.publish(TOPIC, endpointIds.slice(start, start + IDS_PER_HINT).join(','))
      }
    },
    listen(endpointId, onDue) {
      listeners.set(endpointId, onDue)
      return () => {
        if (listeners.get(endpointId) === onDue) listeners.delete(endpointId)
      }
    },
    close: unsubscribe,
  }
}
