import { compiledOnce, type Db, type Dialect, insertRows, padded, type Tx } from '../../../platform/db/index.ts'
import { isoTime } from '../../../platform/time/time.ts'
import type { Recorder } from '../../index.ts'
import type { EndpointRow } from '../endpoints/endpoint.ts'
import { endpointStore } from '../endpoints/store.ts'
import type { AttemptRow, DeliveryRow } from '../tables.ts'
import type { Outcome } from './attempt.ts'
import { afterOutcomes, type Circuit, type CircuitOutcome, classifyOutcome } from './circuit.ts'
import { retryDelayMs } from './retry-schedule.ts'

/** One attempt, with the delivery and endpoint rows it was made from. */
export interface AttemptResult {
  delivery: DeliveryRow
  /** The lease under which the delivery was held. */
  lease: string
  endpoint: EndpointRow
  outcome: Outcome
}

/** 410: the receiver asks us to stop sending. */
export const isGone = (outcome: Outcome) => outcome.responseStatus === 410

/** `lastDeliveryAt` is for people: to the second is enough, and spares a busy endpoint's row an update per batch. */
const LAST_DELIVERY_STEP_MS = 1000

export interface RecordedResults {
  /** The attempts that were recorded: all but those whose delivery was cancelled or taken over. */
  recorded: AttemptResult[]
  /** Results that failed and are retried. */
  retrying: AttemptResult[]
  /** Results whose delivery failed after its last attempt. */
  failed: AttemptResult[]
  /** Endpoints that asked for no further deliveries. */
  disabled: EndpointRow[]
  /** Endpoints whose circuit changed its state. */
  circuits: { endpoint: EndpointRow; state: Circuit['circuitState'] }[]
}

/**
 * Records attempts in one transaction: the attempt rows, the state of their deliveries, and their endpoints' circuits.
 * Fenced by the lease: skips an attempt whose delivery was cancelled or taken over by another worker.
 */
export async function recordResults(
  tx: Tx,
  { db, recorder }: { db: Pick<Db, 'dialect'>; recorder: Recorder },
  results: readonly AttemptResult[],
  nowMs: number,
): Promise<RecordedResults> {
  const statuses = new Map<string, DeliveryRow['status']>()
  for (const group of groupByNextState(results, nowMs)) {
    for (const id of await advance(tx, group)) statuses.set(id, group.next.status)
  }
  const recorded = results.filter(({ delivery }) => statuses.has(delivery.id))
  await insertRows(tx, 'webhookAttempts', recorded.map(attemptRow))
  const circuits: RecordedResults['circuits'] = []
  const disabled: EndpointRow[] = []
  for (const { endpoint, gone, outcomes } of byEndpoint(recorded)) {
    if (outcomes.includes('success') && nowMs - (endpoint.lastDeliveryAt ?? 0) >= LAST_DELIVERY_STEP_MS) {
      await tx.updateTable('webhookEndpoints').set({ lastDeliveryAt: nowMs }).where('id', '=', endpoint.id).execute()
    }
    const state = await updateCircuit(tx, db.dialect, endpoint.id, outcomes, nowMs)
    if (state !== undefined) circuits.push({ endpoint, state })
    if (gone && (await deactivate(tx, recorder, endpoint, nowMs))) disabled.push(endpoint)
  }
  const withStatus = (status: DeliveryRow['status']) =>
    recorded.filter(({ delivery }) => statuses.get(delivery.id) === status)
  return { recorded, retrying: withStatus('retrying'), failed: withStatus('failed'), disabled, circuits }
}

/** Returns the new state when the circuit opened or closed. */
async function updateCircuit(
  tx: Tx,
  dialect: Dialect,
  endpointId: string,
  outcomes: readonly CircuitOutcome[],
  nowMs: number,
): Promise<Circuit['circuitState'] | undefined> {
  const store = endpointStore(tx)
  const seen = await store.find(endpointId)
  // Usually nothing changes; then no row is locked or written.
  if (seen === undefined || afterOutcomes(seen, outcomes, nowMs) === seen) return undefined
  const before = await store.findLocked(endpointId, dialect)
  if (before === undefined) return undefined
  const after = afterOutcomes(before, outcomes, nowMs)
  const { circuitState, circuitFailures, circuitPauses, circuitOpenedAt, circuitProbeAt } = after
  await store.update(endpointId, { circuitState, circuitFailures, circuitPauses, circuitOpenedAt, circuitProbeAt })
  return circuitState === before.circuitState ? undefined : circuitState
}

interface NextState {
  status: DeliveryRow['status']
  nextAttemptAt: number | null
  url: string
}

function nextState({ delivery, endpoint, outcome }: AttemptResult, nowMs: number): NextState {
  const { url } = endpoint
  if (outcome.error === null) return { status: 'success', nextAttemptAt: null, url }
  const attempts = delivery.attempt + 1
  if (attempts >= delivery.maxAttempts || isGone(outcome)) return { status: 'failed', nextAttemptAt: null, url }
  return { status: 'retrying', nextAttemptAt: nowMs + retryDelayMs(endpoint, attempts, outcome.retryAfterMs), url }
}

interface Group {
  lease: string
  next: NextState
  ids: string[]
}

/** Most of a batch reaches the same next state, so most of it is one statement. */
function groupByNextState(results: readonly AttemptResult[], nowMs: number): Iterable<Group> {
  const groups = new Map<string, Group>()
  for (const result of results) {
    const next = nextState(result, nowMs)
    const key = `${result.lease} ${next.status} ${next.nextAttemptAt} ${next.url}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { lease: result.lease, next, ids: [result.delivery.id] })
    else group.ids.push(result.delivery.id)
  }
  return groups.values()
}

/** Returns the ids of the deliveries that were still held under the lease. */
async function advance(tx: Tx, { lease, next, ids }: Group): Promise<string[]> {
  const { status, nextAttemptAt, url } = next
  return (await toNextState(tx, status, nextAttemptAt, url, padded(ids), lease)).map((row) => row.id)
}

const toNextState = compiledOnce(
  (
    handle,
    status: NextState['status'],
    nextAttemptAt: number | null,
    url: string,
    ids: readonly string[],
    lease: string,
  ) =>
    handle
      .updateTable('webhookDeliveries')
      .set((eb) => ({ status, nextAttemptAt, url, attempt: eb('attempt', '+', 1), lease: null, leasedUntil: null }))
      .where('id', 'in', ids)
      .where('lease', '=', lease)
      .returning('id'),
)

function attemptRow({ delivery, outcome }: AttemptResult): AttemptRow {
  return {
    deliveryId: delivery.id,
    attempt: delivery.attempt + 1,
    startedAt: outcome.startedAt,
    durationMs: outcome.durationMs,
    responseStatus: outcome.responseStatus,
    responseBody: outcome.responseBody,
    errorKind: outcome.error?.kind ?? null,
    errorMessage: outcome.error?.message ?? null,
    signatures: outcome.signatures,
    headerNames: outcome.headerNames.length === 0 ? null : JSON.stringify(outcome.headerNames),
  }
}

function byEndpoint(results: readonly AttemptResult[]) {
  const found = new Map<string, { endpoint: EndpointRow; gone: boolean; outcomes: CircuitOutcome[] }>()
  for (const { delivery, endpoint, outcome } of results) {
    const entry = found.get(endpoint.id) ?? { endpoint, gone: false, outcomes: [] }
    found.set(endpoint.id, entry)
    entry.gone ||= isGone(outcome)
    entry.outcomes.push(classifyOutcome(delivery, outcome))
  }
  // One lock order: replicas may record results of the same endpoints at the same time.
  return [...found.values()].sort((left, right) => (left.endpoint.id < right.endpoint.id ? -1 : 1))
}

/** After a 410 nothing is sent until the endpoint is activated again. Returns false when it was inactive. */
async function deactivate(tx: Tx, recorder: Recorder, endpoint: EndpointRow, nowMs: number): Promise<boolean> {
  if (!(await endpointStore(tx).deactivate(endpoint.id, nowMs))) return false
  await recorder.record(tx, [
    {
      type: 'webhook.endpoint_disabled',
      accountId: null,
      provider: null,
      objectId: endpoint.id,
      version: null,
      data: { endpointId: endpoint.id, url: endpoint.url, reason: 'gone', disabledAt: isoTime(nowMs) },
    },
  ])
  return true
}
