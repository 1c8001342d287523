import type { Log } from '../log/index.ts'

export type Listener = (payload: string | undefined) => void

/** The listeners of this process, used by every bus. */
export function listeners(log: Log) {
  const byTopic = new Map<string, Set<Listener>>()

  function call(topic: string, payload: string | undefined): void {
    for (const listener of byTopic.get(topic) ?? []) {
      try {
        listener(payload)
      } catch (error) {
        log.error('A listener of the bus threw.', { operation: 'bus.deliver', error, metadata: { topic } })
      }
    }
  }

  let invalid = 0
  let reportedAtMs = Number.NEGATIVE_INFINITY

  function reportInvalid(topic: string): void {
    invalid += 1
    const nowMs = performance.now()
    if (nowMs - reportedAtMs < REPORT_EVERY_MS) return
    log.warn(
      `Dropped ${invalid} invalid hint${invalid === 1 ? '' : 's'}. Another program, or another version of the service, publishes on the channel of this service: give it a server or database of its own.`,
      { operation: 'bus.deliver', metadata: { topic: topic.slice(0, 100), hints: invalid } },
    )
    invalid = 0
    reportedAtMs = nowMs
  }

  return {
    subscribe(topic: string, listener: Listener): () => void {
      // Wrapped, so that a function can subscribe twice and each subscription ends separately.
      const own: Listener = (payload) => listener(payload)
      const registered = byTopic.get(topic) ?? new Set()
      byTopic.set(topic, registered.add(own))
      return () => {
        registered.delete(own)
        if (registered.size === 0 && byTopic.get(topic) === registered) byTopic.delete(topic)
      }
    },
    /** Asynchronous, so that no listener runs inside the publisher's call. */
    deliver(topic: string, payload: string): void {
      if (byTopic.has(topic)) queueMicrotask(() => call(topic, payload))
    },
    /** Hints may be lost: every listener has to poll. */
    deliverLoss(): void {
      for (const topic of [...byTopic.keys()]) call(topic, undefined)
    },
    /** Delivers a message of another process, `sender\ntopic\npayload`. Anything that reaches the server may have sent it. */
    receive(message: string, ownSender: string): void {
      const [sender, topic, ...rest] = message.length > MAX_MESSAGE_CHARS ? [] : message.split('\n')
      if (sender === ownSender) return
      if (topic === undefined) reportInvalid('unknown')
      else this.deliver(topic, rest.join('\n'))
    },
    reportInvalid,
    clear: () => byTopic.clear(),
  }
}

const MAX_BYTES = 4096
/** With the sender and the line breaks. */
const MAX_MESSAGE_CHARS = MAX_BYTES + 100
const REPORT_EVERY_MS = 60_000

/** False for a hint that no bus can send; logs an error. */
export function isSendable(topic: string, payload: string, log: Log): boolean {
  const bytes = Buffer.byteLength(topic) + Buffer.byteLength(payload)
  if (bytes <= MAX_BYTES && !topic.includes('\n')) return true
  log.error('Dropped a hint that is too large for the bus.', {
    operation: 'bus.publish',
    metadata: { topic: topic.slice(0, 100), bytes },
  })
  return false
}
