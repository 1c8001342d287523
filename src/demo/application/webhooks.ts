import type { IncomingHttpHeaders } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { untilAborted } from '../../platform/concurrency/abort.ts'

/** A webhook whose signature was verified. */
interface ReceivedWebhook {
  id: string
  type: string
  /** When it was signed, in milliseconds since 1970. */
  signedAt: number
  accountId: string | null
  data: Record<string, unknown>
  /** The body as it arrived, without white space. */
  body: string
}

/** The webhooks that the application received, newest first. */
export interface ReceivedWebhooks {
  readonly newest: readonly ReceivedWebhook[]
  /** Sets the signing secret of the endpoint. */
  trust(secret: string): void
  /** Verifies and keeps a webhook. Returns false when the signature is invalid or older than five minutes. */
  receive(body: string, headers: IncomingHttpHeaders): boolean
  /** The first webhook that matches, already received or not. Rejects when the signal aborts. */
  waitFor(matches: (webhook: ReceivedWebhook) => boolean, signal: AbortSignal): Promise<ReceivedWebhook>
  onReceived(listener: (webhook: ReceivedWebhook) => void): void
}

const MAX_KEPT = 100

export function receivedWebhooks(): ReceivedWebhooks {
  const newest: ReceivedWebhook[] = []
  const listeners = new Set<(webhook: ReceivedWebhook) => void>()
  let verifier: Webhook | undefined

  function verified(body: string, headers: IncomingHttpHeaders): ReceivedWebhook | undefined {
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    try {
      const event = verifier?.verify(body, texts) as Omit<ReceivedWebhook, 'body' | 'signedAt'> | undefined
      return event && { ...event, body, signedAt: Number(texts['webhook-timestamp']) * 1000 }
    } catch {
      return undefined
    }
  }

  return {
    newest,
    trust(secret) {
      verifier = new Webhook(secret)
    },
    receive(body, headers) {
      const webhook = verified(body, headers)
      if (webhook === undefined) return false
      // At least once: a repeated delivery has the same id.
      if (newest.some(({ id }) => id === webhook.id)) return true
      newest.unshift(webhook)
      newest.splice(MAX_KEPT)
      for (const listener of listeners) listener(webhook)
      return true
    },
    waitFor(matches, signal) {
      const received = newest.find(matches)
      if (received !== undefined) return Promise.resolve(received)
      let listener: (webhook: ReceivedWebhook) => void = () => {}
      const arrival = new Promise<ReceivedWebhook>((resolve) => {
        listener = (webhook) => matches(webhook) && resolve(webhook)
      })
      listeners.add(listener)
      return untilAborted(arrival, signal).finally(() => listeners.delete(listener))
    },
    onReceived: (listener) => void listeners.add(listener),
  }
}
