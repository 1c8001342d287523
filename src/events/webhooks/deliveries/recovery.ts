import { type Db, lockState, type Tx } from '../../../platform/db/index.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Queue } from '../../../platform/queue/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { type EventRange, listFannedOut } from '../../index.ts'
import type { EndpointRow } from '../endpoints/endpoint.ts'
import { endpointStore } from '../endpoints/store.ts'
import { subscribes } from '../endpoints/subscriptions.ts'
import { DELIVER_QUEUE } from '../sending/endpoint-worker.ts'
import { sendable } from './erasure.ts'
import { newDelivery } from './new-delivery.ts'
import { insertDeliveries } from './store.ts'

export interface RecoverDeps {
  db: Db
  clock: Clock
  ids: Ids
  queue: Queue
}

export interface Recovery {
  recovered: number
  /** Set when the time limit ended the recovery: the time of the last event processed, from which to continue. */
  stoppedAt: number | undefined
}

/** Bounds how long one transaction holds locks. */
const EVENTS_PER_TRANSACTION = 200
/** The HTTP caller waits for the result. */
const MAX_MS = 10_000

/** Held by what creates deliveries of stored events. */
export const RECOVERY_LOCK = 'webhooks.recovery'

type Head = Awaited<ReturnType<typeof listFannedOut>>[number]
type Range = Pick<EventRange, 'sinceMs' | 'untilMs'>

/**
 * Queues the events of a time range that an endpoint missed, of the types it subscribes to now: failed and cancelled
 * deliveries are queued again, and events without a delivery get one. Waiting, successful and deduplicated deliveries are
 * not changed, so a second call finds nothing. Runs in steps, each a transaction. Throws not_found.
 */
export async function recoverEndpoint(deps: RecoverDeps, endpointId: string, range: Range): Promise<Recovery> {
  const startedMs = deps.clock.monotonic()
  let recovered = 0
  let after: EventRange['after']
  for (;;) {
    const step = await deps.db.transaction((tx) => recoverStep(tx, deps, endpointId, { ...range, after }))
    recovered += step.recovered
    if (step.last === undefined) return { recovered, stoppedAt: undefined }
    after = step.last
    if (deps.clock.monotonic() - startedMs > MAX_MS) return { recovered, stoppedAt: after.createdAt }
  }
}

async function recoverStep(tx: Tx, deps: RecoverDeps, endpointId: string, range: EventRange) {
  // Concurrent recoveries would find the same gap.
  await lockState(tx, RECOVERY_LOCK)
  const endpoint = await endpointStore(tx).get(endpointId)
  const events = await listFannedOut(tx, range, EVENTS_PER_TRANSACTION)
  const last = events.length === EVENTS_PER_TRANSACTION ? events.at(-1) : undefined
  const eventTypes: string[] = JSON.parse(endpoint.eventTypes)
  const due = await sendable(
    tx,
    events.filter((event) => subscribes(eventTypes, event.type)),
  )
  const made = await findDeliveries(tx, endpointId, due)
  const missing = due.filter((event) => !made.has(event.id))
  const nowMs = deps.clock.now()
  // Lock order: existing deliveries before new ones and their counter.
  const again = await requeueEnded(tx, endpoint, [...made.values()], nowMs)
  await insertDeliveries(
    tx,
    missing.map((event) => newDelivery(deps.ids, event, endpoint, nowMs, 'recover')),
  )
  const recovered = missing.length + again
  if (recovered > 0) await deps.queue.addIn(tx, DELIVER_QUEUE, [endpointId])
  return { recovered, last }
}

/** The ids of the endpoint's deliveries of these events, by event id. */
export async function findDeliveries(
  tx: Tx,
  endpointId: string,
  events: readonly Pick<Head, 'id'>[],
): Promise<Map<string, string>> {
  if (events.length === 0) return new Map()
  const ids = events.map((event) => event.id)
  const rows = await tx
    .selectFrom('webhookDeliveries')
    .select(['id', 'eventId'])
    .where('eventId', 'in', ids)
    .where('endpointId', '=', endpointId)
    .execute()
  return new Map(rows.map(({ id, eventId }) => [eventId, id]))
}

async function requeueEnded(tx: Tx, endpoint: EndpointRow, ids: string[], nowMs: number): Promise<number> {
  if (ids.length === 0) return 0
  const rows = await tx
    .updateTable('webhookDeliveries')
    .set((eb) => ({
      status: 'pending',
      trigger: 'recover',
      nextAttemptAt: nowMs,
      maxAttempts: eb('attempt', '+', 1 + endpoint.retryCount),
      url: endpoint.url,
    }))
    .where('id', 'in', ids)
    .where('status', 'in', ['failed', 'cancelled'])
    .returning('id')
    .execute()
  return rows.length
}
