import { randomUUID } from 'node:crypto'
import { findEvents, type NewEvent, type Recorder, sampleEvent } from '../../events/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { Outbound } from '../../infra/http/index.ts'
import type { Log } from '../../infra/log/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Sealer } from '../../lib/seal.ts'
import { attempt } from './attempt.ts'
import { attemptInput } from './attempt-input.ts'
import { type DeliveryRow, newDelivery } from './delivery.ts'
import { renewLease } from './delivery-state.ts'
import { insertDeliveries } from './delivery-store.ts'
import { type EndpointRow, openEndpoint } from './endpoint.ts'
import { endpointStore } from './endpoint-store.ts'
import { subscribes } from './event-types.ts'
import { settle } from './settle.ts'

/** A stored message as its `message.received` says it. */
export type MessageEvent = Omit<NewEvent<'message.received'>, 'type'>

/** Reads a message by account (or alias) and id; throws not_found. */
export type ReadMessage = (accountId: string, messageId: string) => Promise<MessageEvent>

/** Test deliveries: made and tried at once, one attempt each. Both answer the ids of the deliveries. */
export interface Trials {
  /** One `webhook.test` to the endpoint, active or not. Throws not_found. */
  test(endpointId: string): Promise<string>
  /** The message to every active endpoint that hears of `message.received`. Throws not_found. */
  testMessage(accountId: string, messageId: string): Promise<string[]>
  /** Lets those on their way finish for at most `graceMs`; then their callers hear `not_ready`. */
  stop(graceMs: number): Promise<void>
}

export interface TrialDeps {
  db: Db
  clock: Clock
  ids: Ids
  log: Log
  sealer: Sealer
  recorder: Recorder
  outbound: Outbound
  readMessage: ReadMessage
}

/** Added to the longest timeout: after that a trial whose process died is an ordinary waiting delivery. */
const LEASE_MARGIN_MS = 30_000

export function trials(deps: TrialDeps): Trials {
  const { db, clock, recorder } = deps
  const cut = new AbortController()
  const running = new Set<Promise<unknown>>()

  async function send(event: NewEvent, targets: readonly EndpointRow[], trigger: DeliveryRow['trigger']) {
    const sending = sendAll(event, targets, trigger)
    running.add(sending)
    try {
      return await sending
    } catch (error) {
      throw cut.signal.aborted ? new AppError('not_ready', { cause: error }) : error
    } finally {
      running.delete(sending)
    }
  }

  async function sendAll(event: NewEvent, targets: readonly EndpointRow[], trigger: DeliveryRow['trigger']) {
    const token = randomUUID()
    const { row, pairs } = await db.transaction(async (tx) => {
      const [eventId = ''] = await recorder.record(tx, [{ ...event, fanOut: false }])
      const row = (await findEvents(tx, [eventId])).get(eventId)
      if (row === undefined) throw new Error(`the event ${eventId} is not there after it was recorded`)
      const pairs = targets.map((endpoint) => ({
        endpoint,
        delivery: { ...newDelivery(deps.ids, row, endpoint, clock.now(), trigger), lease: token },
      }))
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
    const attempted = await Promise.all(
      pairs.map(async ({ endpoint, delivery }) => {
        const input = attemptInput(delivery, row, openEndpoint(endpoint, deps.sealer), clock.now())
        return { delivery, endpoint, outcome: await attempt(input, deps, cut.signal) }
      }),
    )
    await db.transaction((tx) => settle(tx, deps, token, attempted, clock.now()))
    return pairs.map(({ delivery }) => delivery.id)
  }

  return {
    async test(endpointId) {
      const endpoint = await endpointStore(db.read).get(endpointId)
      const [id = ''] = await send(sample(endpoint), [endpoint], 'test')
      return id
    },
    async testMessage(accountId, messageId) {
      const message = await deps.readMessage(accountId, messageId)
      const active = await endpointStore(db.read).listActive()
      const targets = active.filter((row) => subscribes(JSON.parse(row.eventTypes), 'message.received'))
      return send({ ...message, type: 'message.received' }, targets, 'test-message')
    },
    async stop(graceMs) {
      const grace = setTimeout(() => cut.abort(), graceMs)
      await Promise.allSettled(running)
      clearTimeout(grace)
    },
  }
}

function sample(endpoint: EndpointRow): NewEvent {
  const event = sampleEvent('webhook.test')
  return { ...event, objectId: endpoint.id, data: { ...event.data, endpointId: endpoint.id } }
}
