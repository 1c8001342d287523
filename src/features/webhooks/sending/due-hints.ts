import type { Bus } from '../../../infra/bus/index.ts'

/** Tells running turns that their endpoint has something new. Hints only: a turn also looks by itself. */
export interface DueHints {
  announce(endpointIds: readonly string[]): void
  /** One listener per endpoint and process (the queue runs a subject once at a time). Answers how to stop. */
  listen(endpointId: string, onDue: () => void): () => void
  close(): void
}

const TOPIC = 'webhooks.due'
/** Ids have at most 64 characters and a hint at most 4 KB; beyond this everyone looks. */
const MAX_IDS = 50

export function dueHints(bus: Bus): DueHints {
  const listeners = new Map<string, () => void>()
  const unsubscribe = bus.subscribe(TOPIC, (payload) => {
    const ids = payload === undefined || payload === '' ? listeners.keys() : payload.split(',')
    for (const id of ids) listeners.get(id)?.()
  })
  return {
    announce: (endpointIds) => bus.publish(TOPIC, endpointIds.length > MAX_IDS ? '' : endpointIds.join(',')),
    listen(endpointId, onDue) {
      listeners.set(endpointId, onDue)
      return () => {
        if (listeners.get(endpointId) === onDue) listeners.delete(endpointId)
      }
    },
    close: unsubscribe,
  }
}
