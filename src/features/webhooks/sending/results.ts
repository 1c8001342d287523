import type { Recorder } from '../../../events/index.ts'
import type { Db, Dialect, Tx } from '../../../infra/db/index.ts'
import { isoTime } from '../../../lib/time.ts'
import type { AttemptRow, DeliveryRow, DeliveryStatus } from '../deliveries/delivery.ts'
import type { EndpointRow } from '../endpoints/endpoint.ts'
import { endpointStore } from '../endpoints/store.ts'
import type { Outcome } from './attempt.ts'
import { afterOutcomes, type Circuit, type CircuitOutcome, outcomeOf } from './circuit.ts'
import { retryDelayMs } from './retry-schedule.ts'

/** One attempt that was made, with the endpoint as it was then. */
export interface AttemptResult {
  delivery: DeliveryRow
  /** Under which the delivery was held. */
  lease: string
  endpoint: EndpointRow
  outcome: Outcome
}

/** 410: the receiver is there no more. */
export const isGone = (outcome: Outcome) => outcome.responseStatus === 410

const ROWS_PER_INSERT = 100
/** `lastDeliveryAt` is for people: a row that every batch of a busy endpoint rewrites is not worth the exact second. */
const LAST_DELIVERY_STEP_MS = 1000

export interface RecordedResults {
  /** Deliveries that ended as failed. */
  failed: AttemptResult[]
  /** Endpoints whose circuit opened or closed by these attempts. */
  switched: { endpoint: EndpointRow; state: Circuit['circuitState'] }[]
}

/**
 * Writes what came of attempts: the attempt rows, the state of their deliveries and of their endpoints' circuits, in one
 * transaction. Fenced: an attempt whose delivery was lost to another worker, or cancelled meanwhile, leaves no trace.
 */
export async function recordResults(
  tx: Tx,
  { db, recorder }: { db: Pick<Db, 'dialect'>; recorder: Recorder },
  attempted: readonly AttemptResult[],
  nowMs: number,
): Promise<RecordedResults> {
  const kept = new Set<string>()
  for (const group of grouped(attempted, nowMs)) for (const id of await advance(tx, group)) kept.add(id)
  const written = attempted.filter(({ delivery }) => kept.has(delivery.id))
  for (let start = 0; start < written.length; start += ROWS_PER_INSERT) {
    const rows = written.slice(start, start + ROWS_PER_INSERT).map(attemptRow)
    await tx.insertInto('webhookAttempts').values(rows).execute()
  }
  const switched: RecordedResults['switched'] = []
  for (const { endpoint, gone, outcomes } of byEndpoint(written)) {
    if (outcomes.includes('success') && nowMs - (endpoint.lastDeliveryAt ?? 0) >= LAST_DELIVERY_STEP_MS) {
      await tx.updateTable('webhookEndpoints').set({ lastDeliveryAt: nowMs }).where('id', '=', endpoint.id).execute()
    }
    const state = await moveCircuit(tx, db.dialect, endpoint.id, outcomes, nowMs)
    if (state !== undefined) switched.push({ endpoint, state })
    if (gone) await disable(tx, recorder, endpoint, nowMs)
  }
  return { failed: written.filter((entry) => verdict(entry, nowMs).status === 'failed'), switched }
}

/** Answers the state when it is another one now. */
async function moveCircuit(
  tx: Tx,
  dialect: Dialect,
  endpointId: string,
  outcomes: readonly CircuitOutcome[],
  nowMs: number,
): Promise<Circuit['circuitState'] | undefined> {
  const store = endpointStore(tx)
  const seen = await store.find(endpointId)
  // Nearly always nothing changes, and then nothing is locked or written.
  if (seen === undefined || afterOutcomes(seen, outcomes, nowMs) === seen) return undefined
  const before = await store.findLocked(endpointId, dialect)
  if (before === undefined) return undefined
  const { circuitState, circuitFailures, circuitPauses, circuitOpenedAt, circuitProbeAt } = afterOutcomes(
    before,
    outcomes,
    nowMs,
  )
  await store.update(endpointId, { circuitState, circuitFailures, circuitPauses, circuitOpenedAt, circuitProbeAt })
  return circuitState === before.circuitState ? undefined : circuitState
}

interface Verdict {
  status: DeliveryStatus
  nextAttemptAt: number | null
  url: string
}

function verdict({ delivery, endpoint, outcome }: AttemptResult, nowMs: number): Verdict {
  const { url } = endpoint
  if (outcome.error === null) return { status: 'success', nextAttemptAt: null, url }
  const made = delivery.attempt + 1
  if (made >= delivery.maxAttempts || isGone(outcome)) return { status: 'failed', nextAttemptAt: null, url }
  return { status: 'retrying', nextAttemptAt: nowMs + retryDelayMs(endpoint, made, outcome.retryAfterMs), url }
}

interface Group {
  lease: string
  verdict: Verdict
  ids: string[]
}

/** Attempts that end alike become one statement; most of a batch does. */
function grouped(attempted: readonly AttemptResult[], nowMs: number): Iterable<Group> {
  const groups = new Map<string, Group>()
  for (const entry of attempted) {
    const its = verdict(entry, nowMs)
    const key = `${entry.lease} ${its.status} ${its.nextAttemptAt} ${its.url}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { lease: entry.lease, verdict: its, ids: [entry.delivery.id] })
    else group.ids.push(entry.delivery.id)
  }
  return groups.values()
}

async function advance(tx: Tx, group: Group): Promise<string[]> {
  const rows = await tx
    .updateTable('webhookDeliveries')
    .set((eb) => ({ ...group.verdict, attempt: eb('attempt', '+', 1), lease: null, leasedUntil: null }))
    .where('id', 'in', group.ids)
    .where('lease', '=', group.lease)
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

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

function byEndpoint(attempted: readonly AttemptResult[]) {
  const found = new Map<string, { endpoint: EndpointRow; gone: boolean; outcomes: CircuitOutcome[] }>()
  for (const { delivery, endpoint, outcome } of attempted) {
    const its = found.get(endpoint.id) ?? { endpoint, gone: false, outcomes: [] }
    found.set(endpoint.id, its)
    its.gone ||= isGone(outcome)
    its.outcomes.push(outcomeOf(delivery, outcome))
  }
  // Two replicas that recordResults attempts of the same endpoints lock their rows in one order.
  return [...found.values()].sort((left, right) => (left.endpoint.id < right.endpoint.id ? -1 : 1))
}

/** 410 means the receiver is there no more: nothing is sent until someone activates the endpoint again. */
async function disable(tx: Tx, recorder: Recorder, endpoint: EndpointRow, nowMs: number): Promise<void> {
  if (!(await endpointStore(tx).deactivate(endpoint.id, nowMs))) return
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
}
