import { type EventRange, listFannedOut } from '../../../events/index.ts'
import { type Db, lockState, type Tx } from '../../../infra/db/index.ts'
import type { Queue } from '../../../infra/queue/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Ids } from '../../../lib/ids.ts'
import { accountsBeingErased } from '../../accounts/index.ts'
import type { EndpointRow } from '../endpoints/endpoint.ts'
import { endpointStore } from '../endpoints/store.ts'
import { subscribes } from '../endpoints/subscriptions.ts'
import { newDelivery } from './delivery.ts'
import { DELIVER_QUEUE } from './fan-out.ts'
import { insertDeliveries } from './store.ts'

export interface RecoverDeps {
  db: Db
  clock: Clock
  ids: Ids
  queue: Queue
}

export interface Recovery {
  recovered: number
  /** Where to go on when the time was not enough: the time of the last event looked at. */
  stoppedAt: number | undefined
}

/** Events looked at in one transaction, so that nobody waits long for it. */
const EVENTS_PER_TRANSACTION = 200
/** A caller waits for the answer, and a stop of the service for the caller. */
const MAX_MS = 10_000

type Head = Awaited<ReturnType<typeof listFannedOut>>[number]
type Range = Pick<EventRange, 'sinceMs' | 'untilMs'>

/**
 * Sends the endpoint what it did not get of the events recorded in a range and of types it now hears of: deliveries that
 * failed or were cancelled are set off again, and events without a delivery get one. What waits, arrived or was suppressed is left alone, so
 * a second call finds nothing. In steps, each a transaction; throws not_found.
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
  // Two recoveries at once would both find the same gap.
  await lockState(tx, 'webhooks.recovery')
  const endpoint = await endpointStore(tx).get(endpointId)
  const events = await listFannedOut(tx, range, EVENTS_PER_TRANSACTION)
  const last = events.length === EVENTS_PER_TRANSACTION ? events.at(-1) : undefined
  const due = await undelivered(tx, events, JSON.parse(endpoint.eventTypes))
  const made = await deliveriesOf(tx, endpointId, due)
  const missing = due.filter((event) => !made.has(event.id))
  const nowMs = deps.clock.now()
  // Before the new ones and their counter: in the order in which others lock these rows.
  const again = await requeueEnded(tx, endpoint, [...made.values()], nowMs)
  await insertDeliveries(
    tx,
    missing.map((event) => newDelivery(deps.ids, event, endpoint, nowMs, 'recover')),
  )
  const recovered = missing.length + again
  if (recovered > 0) await deps.queue.addIn(tx, DELIVER_QUEUE, [endpointId])
  return { recovered, last }
}

async function undelivered(tx: Tx, events: readonly Head[], eventTypes: string[]): Promise<Head[]> {
  const heard = events.filter((event) => subscribes(eventTypes, event.type))
  const accountIds = heard.flatMap(({ accountId }) => (accountId === null ? [] : [accountId]))
  const erased = await accountsBeingErased(tx, [...new Set(accountIds)])
  return heard.filter(({ accountId, type }) => !erased.has(accountId ?? '') || type === 'account.deleted')
}

/** The endpoint's deliveries of these events: ids by event. */
async function deliveriesOf(tx: Tx, endpointId: string, events: readonly Head[]): Promise<Map<string, string>> {
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
