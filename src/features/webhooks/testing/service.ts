import { randomUUID } from 'node:crypto'
import {
  type EventCatalogue,
  type EventContent,
  type EventRow,
  findEvents,
  type NewEvent,
  type Recorder,
} from '../../../events/index.ts'
import type { Db } from '../../../infra/db/index.ts'
import type { Outbound } from '../../../infra/http/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Ids } from '../../../lib/ids.ts'
import type { Sealer } from '../../../lib/seal.ts'
import { newDelivery } from '../deliveries/fan-out.ts'
import { holdForRetry, retryable } from '../deliveries/retry.ts'
import { insertDeliveries } from '../deliveries/store.ts'
import { type EndpointRow, openEndpoint } from '../endpoints/endpoint.ts'
import { endpointStore } from '../endpoints/store.ts'
import { subscribes } from '../endpoints/subscriptions.ts'
import { webhookEvents } from '../events.ts'
import { attempt, attemptInput } from '../sending/attempt.ts'
import { renewLease } from '../sending/leases.ts'
import { recordResults } from '../sending/results.ts'
import type { DeliveryRow } from '../tables.ts'

/** A stored message as the fields of its `message.received` event. */
export type MessageEvent = EventContent

/** Reads a message by account (or alias) and id; throws not_found. */
export type ReadMessage = (accountId: string, messageId: string) => Promise<MessageEvent>

/** Deliveries sent while the caller waits, one attempt each. The methods return the delivery ids. */
export interface TestDeliveries {
  /** Sends `webhook.test` to the endpoint, active or not. Throws not_found. */
  test(endpointId: string): Promise<string>
  /** Sends the message to every active endpoint subscribed to `message.received`. Throws not_found. */
  testMessage(accountId: string, messageId: string): Promise<string[]>
  /** Sends a sample event of this type to every active subscribed endpoint. Event streams receive it too. */
  testEvent(type: string): Promise<{ eventId: string; deliveryIds: string[] }>
  /**
   * Makes one immediate attempt for a delivery of an inactive endpoint. Does nothing while a worker holds the delivery.
   * Returns false when the endpoint is active: the queue sends the delivery then. Throws not_found, conflict.
   */
  retryInactive(deliveryId: string): Promise<boolean>
  /** Waits up to `graceMs` for running attempts, then aborts them; their callers get `not_ready`. */
  stop(graceMs: number): Promise<void>
}

export interface TestDeliveryDeps {
  db: Db
  clock: Clock
  ids: Ids
  log: Log
  sealer: Sealer
  catalogue: EventCatalogue
  recorder: Recorder
  outbound: Outbound
  readMessage: ReadMessage
}

interface Pair {
  endpoint: EndpointRow
  delivery: DeliveryRow
}

/** Added to the longest timeout. After that, a delivery whose process died is an ordinary waiting delivery. */
const LEASE_MARGIN_MS = 30_000

export function testDeliveries(deps: TestDeliveryDeps): TestDeliveries {
  const { db, clock, recorder } = deps
  const aborted = new AbortController()
  const running = new Set<Promise<unknown>>()

  async function tracked<T>(sending: Promise<T>): Promise<T> {
    running.add(sending)
    try {
      return await sending
    } catch (error) {
      throw aborted.signal.aborted ? new AppError('not_ready', { cause: error }) : error
    } finally {
      running.delete(sending)
    }
  }

  async function send(event: NewEvent, targets: readonly EndpointRow[], trigger: DeliveryRow['trigger']) {
    const token = randomUUID()
    const { row, pairs } = await db.transaction(async (tx) => {
      const [eventId = ''] = await recorder.record(tx, [{ ...event, fanOut: false }])
      const row = (await findEvents(tx, [eventId])).get(eventId)
      if (row === undefined) throw new Error(`the event ${eventId} is missing after it was recorded`)
      const pairs = targets.map((endpoint) => ({
        endpoint,
        delivery: { ...newDelivery(deps.ids, row, endpoint, clock.now(), trigger), lease: token },
      }))
      if (pairs.length === 0) return { row, pairs }
      const made = pairs.map(({ delivery }) => delivery)
      await insertDeliveries(tx, made)
      const longestMs = Math.max(0, ...targets.map(({ timeoutMs }) => timeoutMs))
      await renewLease(
        tx,
        db.dialect,
        made.map(({ id }) => id),
        { token, forMs: longestMs + LEASE_MARGIN_MS },
      )
      return { row, pairs }
    })
    await attemptAll(row, pairs, token)
    return { eventId: row.id, deliveryIds: pairs.map(({ delivery }) => delivery.id) }
  }

  async function subscribed(type: string): Promise<EndpointRow[]> {
    const active = await endpointStore(db.read).listActive()
    return active.filter((row) => subscribes(JSON.parse(row.eventTypes), type))
  }

  async function attemptAll(event: EventRow, pairs: readonly Pair[], token: string): Promise<void> {
    const attempted = await Promise.all(
      pairs.map(async ({ endpoint, delivery }) => {
        const input = attemptInput(delivery, event, openEndpoint(endpoint, deps.sealer), clock.now())
        return { delivery, lease: token, endpoint, outcome: await attempt(input, deps, aborted.signal) }
      }),
    )
    if (attempted.length > 0) await db.transaction((tx) => recordResults(tx, deps, attempted, clock.now()))
  }

  async function retryInactive(deliveryId: string): Promise<boolean> {
    const token = randomUUID()
    const claimed = await db.transaction(async (tx) => {
      const { delivery, endpoint, event } = await retryable(tx, db.dialect, deliveryId)
      if (endpoint.isActive === 1) return undefined
      const lease = { token, forMs: endpoint.timeoutMs + LEASE_MARGIN_MS }
      const held = await holdForRetry(tx, db.dialect, delivery, lease, clock.now())
      return { event, pairs: held === undefined ? [] : [{ endpoint, delivery: held }] }
    })
    if (claimed === undefined) return false
    await attemptAll(claimed.event, claimed.pairs, token)
    return true
  }

  return {
    async test(endpointId) {
      const endpoint = await endpointStore(db.read).get(endpointId)
      const { deliveryIds } = await tracked(send(sample(endpoint), [endpoint], 'test'))
      return deliveryIds[0] ?? ''
    },
    async testMessage(accountId, messageId) {
      const message = await deps.readMessage(accountId, messageId)
      const event: NewEvent = { ...message, type: 'message.received' }
      const { deliveryIds } = await tracked(send(event, await subscribed(event.type), 'test-message'))
      return deliveryIds
    },
    async testEvent(type) {
      return tracked(send({ type, ...deps.catalogue.get(type).example }, await subscribed(type), 'test'))
    },
    retryInactive: (deliveryId) => tracked(retryInactive(deliveryId)),
    async stop(graceMs) {
      const grace = setTimeout(() => aborted.abort(), graceMs)
      await Promise.allSettled(running)
      clearTimeout(grace)
    },
  }
}

function sample(endpoint: EndpointRow): NewEvent {
  const { example } = webhookEvents['webhook.test']
  return {
    ...example,
    type: 'webhook.test',
    objectId: endpoint.id,
    data: { ...example.data, endpointId: endpoint.id },
  }
}
