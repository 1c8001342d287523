import { sql } from 'kysely'
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
  const reached = byEndpoint(recorded)
  const changed = await lockChanged(tx, db.dialect, reached, nowMs)
  await storeLastDelivery(tx, reached, changed, nowMs)
  for (const { endpoint, gone, outcomes } of reached) {
    const before = changed.get(endpoint.id)
    const state = before === undefined ? undefined : await updateCircuit(tx, before, outcomes, nowMs)
    if (state !== undefined) circuits.push({ endpoint, state })
    if (gone && (await deactivate(tx, recorder, endpoint, nowMs))) disabled.push(endpoint)
  }
  const withStatus = (status: DeliveryRow['status']) =>
    recorded.filter(({ delivery }) => statuses.get(delivery.id) === status)
  return { recorded, retrying: withStatus('retrying'), failed: withStatus('failed'), disabled, circuits }
}

/** Usually nothing changes; then no row is locked or written. Returns the endpoints' rows that change, by id, locked. */
async function lockChanged(
  tx: Tx,
  dialect: Dialect,
  reached: readonly EndpointResults[],
  nowMs: number,
): Promise<Map<string, EndpointRow>> {
  const store = endpointStore(tx)
  const seen = await store.findAll(reached.map(({ endpoint }) => endpoint.id))
  const changed = reached.filter(({ endpoint, gone, outcomes }) => {
    const row = seen.get(endpoint.id)
    if (row === undefined) return false
    return gone || isLaterDelivery(row, outcomes, nowMs) || afterOutcomes(row, outcomes, nowMs) !== row
  })
  return store.lockAll(
    changed.map(({ endpoint }) => endpoint.id),
    dialect,
  )
}

function isLaterDelivery({ lastDeliveryAt }: EndpointRow, outcomes: readonly CircuitOutcome[], nowMs: number): boolean {
  return outcomes.includes('success') && nowMs - (lastDeliveryAt ?? 0) >= LAST_DELIVERY_STEP_MS
}

async function storeLastDelivery(
  tx: Tx,
  reached: readonly EndpointResults[],
  changed: ReadonlyMap<string, EndpointRow>,
  nowMs: number,
): Promise<void> {
  const ids = reached.flatMap(({ endpoint, outcomes }) => {
    const row = changed.get(endpoint.id)
    return row !== undefined && isLaterDelivery(row, outcomes, nowMs) ? [row.id] : []
  })
  if (ids.length > 0) await setLastDelivery(tx, nowMs, padded(ids))
}

const setLastDelivery = compiledOnce((handle, nowMs: number, ids: readonly string[]) =>
  handle.updateTable('webhookEndpoints').set({ lastDeliveryAt: nowMs }).where('id', 'in', ids).returning('id'),
)

/** `before` is the locked row. Returns the new state when the circuit opened or closed. */
async function updateCircuit(
  tx: Tx,
  before: EndpointRow,
  outcomes: readonly CircuitOutcome[],
  nowMs: number,
): Promise<Circuit['circuitState'] | undefined> {
  const after = afterOutcomes(before, outcomes, nowMs)
  if (after === before) return undefined
  const { circuitState, circuitFailures, circuitPauses, circuitOpenedAt, circuitProbeAt } = after
  const changes = { circuitState, circuitFailures, circuitPauses, circuitOpenedAt, circuitProbeAt }
  await endpointStore(tx).update(before.id, changes)
  return circuitState === before.circuitState ? undefined : circuitState
}

interface NextState {
  status: DeliveryRow['status']
  nextAttemptAt: number | null
  /** Null when it is still the one that is stored. */
  url: string | null
}

function nextState({ delivery, endpoint, outcome }: AttemptResult, nowMs: number): NextState {
  const url = endpoint.url === delivery.url ? null : endpoint.url
  if (outcome.error === null) return { status: 'success', nextAttemptAt: null, url }
  const attempts = delivery.attempt + 1
  if (attempts >= delivery.maxAttempts || isGone(outcome)) return { status: 'failed', nextAttemptAt: null, url }
  return { status: 'retrying', nextAttemptAt: nowMs + retryDelayMs(endpoint, attempts, outcome.retryAfterMs), url }
}

interface Group {
  next: NextState
  results: AttemptResult[]
}

/** Most of a batch reaches the same next state, so most of it is one statement, whatever the number of endpoints. */
function groupByNextState(results: readonly AttemptResult[], nowMs: number): Iterable<Group> {
  const groups = new Map<string, Group>()
  for (const result of results) {
    const next = nextState(result, nowMs)
    const key = `${next.status} ${next.nextAttemptAt} ${next.url}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { next, results: [result] })
    else group.results.push(result)
  }
  return groups.values()
}

/** Returns the ids of the deliveries that were still held under the lease of their result. */
async function advance(tx: Tx, { next, results }: Group): Promise<string[]> {
  const ids = padded(results.map(({ delivery }) => delivery.id))
  const held = padded(results.map(({ delivery, lease }) => delivery.id + lease))
  return (await toNextState(tx, next.status, next.nextAttemptAt, next.url, ids, held)).map((row) => row.id)
}

const toNextState = compiledOnce(
  (
    handle,
    status: NextState['status'],
    nextAttemptAt: number | null,
    url: string | null,
    ids: readonly string[],
    /** Each id with its lease behind it. */
    held: readonly string[],
  ) =>
    handle
      .updateTable('webhookDeliveries')
      .set((eb) => ({
        status,
        nextAttemptAt,
        url: sql<string>`coalesce(cast(${url} as text), "url")`,
        attempt: eb('attempt', '+', 1),
        lease: null,
        leasedUntil: null,
      }))
      .where('id', 'in', ids)
      .where(sql<string>`"id" || "lease"`, 'in', held)
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

interface EndpointResults {
  endpoint: EndpointRow
  gone: boolean
  outcomes: CircuitOutcome[]
}

function byEndpoint(results: readonly AttemptResult[]): EndpointResults[] {
  const found = new Map<string, EndpointResults>()
  for (const { delivery, endpoint, outcome } of results) {
    const entry = found.get(endpoint.id) ?? { endpoint, gone: false, outcomes: [] }
    found.set(endpoint.id, entry)
    entry.gone ||= isGone(outcome)
    entry.outcomes.push(classifyOutcome(delivery, outcome))
  }
  return [...found.values()]
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
