import { randomUUID } from 'node:crypto'
import { TURN_MS, yieldIfHeld } from '../../../platform/concurrency/event-loop.ts'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import { type Db, databaseTime } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Outbound } from '../../../platform/outbound/index.ts'
import type { Queue } from '../../../platform/queue/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type EventCatalogue,
  type EventContent,
  type EventRow,
  findEvents,
  type NewEvent,
  type Recorder,
} from '../../index.ts'
import { newDelivery } from '../deliveries/new-delivery.ts'
import { holdForRetry, retryable } from '../deliveries/retry.ts'
import { insertDeliveries } from '../deliveries/store.ts'
import { type EndpointRow, openEndpoint } from '../endpoints/endpoint.ts'
import { endpointStore } from '../endpoints/store.ts'
import { subscribes } from '../endpoints/subscriptions.ts'
import { webhookEvents } from '../events.ts'
import { attempt } from '../sending/attempt.ts'
import { attemptInput } from '../sending/attempt-input.ts'
import { DELIVER_QUEUE } from '../sending/endpoint-worker.ts'
import { type AttemptResult, recordResults } from '../sending/results.ts'
import type { DeliveryRow } from '../tables.ts'

/** A stored message as the fields of its `message.received` event. */
export type MessageEvent = EventContent

/** Reads a message by account (or alias) and id; throws not_found. */
export type ReadMessage = (accountId: string, messageId: string) => Promise<MessageEvent>

/**
 * Deliveries sent while the caller waits, one attempt each. The methods return the delivery ids. A test to many endpoints is sent
 * in batches; what is not sent after 20 s is left to the workers. Throws rate_limited when several such tests run.
 */
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

interface TestDeliveryDeps {
  db: Db
  queue: Queue
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

/** Endpoints per transaction, and concurrent requests of one call. */
const BATCH = 32
/** How long a caller waits for outcomes. After that the workers send the rest. */
const MAX_WAIT_MS = 20_000
/** Tests to many endpoints that may run at once. */
const MAX_RUNNING = 4

/** Added to the longest timeout. After that, a delivery whose process died is an ordinary waiting delivery. */
const LEASE_MARGIN_MS = 30_000

export function testDeliveries(deps: TestDeliveryDeps): TestDeliveries {
  const { db, clock, queue, recorder } = deps
  const aborted = new AbortController()
  let broadcasts = 0
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
    const startedMs = clock.monotonic()
    const row = await db.transaction(async (tx) => {
      const [eventId = ''] = await recorder.record(tx, [{ ...event, fanOut: false }])
      const recorded = (await findEvents(tx, [eventId])).get(eventId)
      if (recorded === undefined) throw new Error(`the event ${eventId} is missing after it was recorded`)
      return recorded
    })
    const deliveryIds: string[] = []
    for (let at = 0; at < targets.length; at += BATCH) {
      const batch = targets.slice(at, at + BATCH)
      const isLate = clock.monotonic() - startedMs > MAX_WAIT_MS
      const pairs = isLate ? await queueBatch(row, batch, trigger) : await sendBatch(row, batch, trigger)
      deliveryIds.push(...pairs.map(({ delivery }) => delivery.id))
    }
    return { eventId: row.id, deliveryIds }
  }

  async function sendBatch(event: EventRow, targets: readonly EndpointRow[], trigger: DeliveryRow['trigger']) {
    const token = randomUUID()
    const pairs = buildPairs(event, targets, trigger, token)
    const forMs = Math.max(...targets.map(({ timeoutMs }) => timeoutMs)) + LEASE_MARGIN_MS
    await db.transaction(async (tx) => {
      const leasedUntil = (await databaseTime(tx, db.dialect)) + forMs
      await insertDeliveries(
        tx,
        pairs.map(({ delivery }) => ({ ...delivery, leasedUntil })),
      )
    })
    await attemptAll(event, pairs, token)
    return pairs
  }

  /** Leaves the deliveries to the workers. */
  async function queueBatch(event: EventRow, targets: readonly EndpointRow[], trigger: DeliveryRow['trigger']) {
    const pairs = buildPairs(event, targets, trigger, null)
    await db.transaction(async (tx) => {
      await insertDeliveries(
        tx,
        pairs.map(({ delivery }) => delivery),
      )
      await queue.addIn(
        tx,
        DELIVER_QUEUE,
        targets.map(({ id }) => id),
      )
    })
    return pairs
  }

  function buildPairs(
    event: EventRow,
    targets: readonly EndpointRow[],
    trigger: DeliveryRow['trigger'],
    lease: string | null,
  ): Pair[] {
    return targets.map((endpoint) => ({
      endpoint,
      delivery: { ...newDelivery(deps.ids, event, endpoint, clock.now(), trigger), lease },
    }))
  }

  /** Each call holds up to BATCH connections. Throws rate_limited when too many run. */
  async function sendToSubscribed(event: NewEvent, trigger: DeliveryRow['trigger']) {
    if (broadcasts >= MAX_RUNNING) {
      const message = 'Several tests to all endpoints are running. Try again when one has ended.'
      throw new AppError('rate_limited', { message, headers: { 'retry-after': '10' } })
    }
    broadcasts += 1
    try {
      return await tracked(send(event, await subscribed(event.type), trigger))
    } finally {
      broadcasts -= 1
    }
  }

  async function subscribed(type: string): Promise<EndpointRow[]> {
    const active = await endpointStore(db.read).listActive()
    return active.filter((row) => subscribes(JSON.parse(row.eventTypes), type))
  }

  async function attemptAll(event: EventRow, pairs: readonly Pair[], token: string): Promise<void> {
    // Signing a large body for every endpoint at once would hold the event loop.
    let turn = Promise.resolve()
    const attempted = await Promise.all(
      pairs.map(async (pair) => {
        turn = turn.then(() => yieldIfHeld(TURN_MS))
        await turn
        return attemptOne(event, pair, token)
      }),
    )
    if (attempted.length > 0) await db.transaction((tx) => recordResults(tx, deps, attempted, clock.now()))
  }

  async function attemptOne(event: EventRow, { endpoint, delivery }: Pair, lease: string): Promise<AttemptResult> {
    const input = attemptInput(delivery, event, openEndpoint(endpoint, deps.sealer), clock.now())
    return { delivery, lease, endpoint, outcome: await attempt(input, deps, aborted.signal) }
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
      const { deliveryIds } = await sendToSubscribed(event, 'test-message')
      return deliveryIds
    },
    async testEvent(type) {
      return sendToSubscribed({ type, ...deps.catalogue.get(type).example }, 'test')
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
