import { isoTimeOrNull } from '../../../platform/time/time.ts'
import type { EndpointRow } from '../endpoints/endpoint.ts'
import type { DeliveryRow } from '../tables.ts'
import type { Outcome } from './attempt.ts'

/**
 *     closed ── FAILURES_TO_OPEN in a row ──▶ open ── pause over ──▶ half_open: one delivery probes
 *        ▲                                     ▲                                  │
 *        └──────────── any success ────────────┼──────────────────────────────────┤
 *                                              └── a longer pause ◀── failure ────┘
 *
 * The state is stored in the endpoint's row, so replicas share it. Unless it is closed, deliveries wait without using attempts.
 */
export type Circuit = Pick<
  EndpointRow,
  'circuitState' | 'circuitFailures' | 'circuitPauses' | 'circuitOpenedAt' | 'circuitProbeAt'
>

export const CLOSED: Circuit = {
  circuitState: 'closed',
  circuitFailures: 0,
  circuitPauses: 0,
  circuitOpenedAt: null,
  circuitProbeAt: null,
}

/** More than the attempts of one delivery: the retries of a single delivery never open the circuit. */
export const FAILURES_TO_OPEN = 25
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 5 * 60_000
/** Added to the endpoint's timeout: a probe whose process died is then lost, and another one may be sent. */
const PROBE_MARGIN_MS = 30_000

/** The result of one attempt, as it counts for its endpoint. A failed replay does not count, but it does end a probe. */
export type CircuitOutcome = 'success' | 'failure' | 'failed-replay' | 'none'

export function classifyOutcome(
  delivery: Pick<DeliveryRow, 'test' | 'trigger'>,
  { error, responseStatus }: Outcome,
): CircuitOutcome {
  if (error === null) return 'success'
  if (delivery.test === 1 || error.kind === 'internal' || responseStatus === 410) return 'none'
  return delivery.trigger === 'event' ? 'failure' : 'failed-replay'
}

/** The circuit after these attempts, in the order in which they ended. Returns the same object when nothing changed. */
export function afterOutcomes(circuit: Circuit, outcomes: readonly CircuitOutcome[], nowMs: number): Circuit {
  return outcomes.reduce((before, outcome) => after(before, outcome, nowMs), circuit)
}

function after(circuit: Circuit, outcome: CircuitOutcome, nowMs: number): Circuit {
  if (outcome === 'none') return circuit
  if (outcome === 'success') return isClean(circuit) ? circuit : CLOSED
  const counts = outcome === 'failure' ? 1 : 0
  const circuitFailures = circuit.circuitFailures + counts
  if (circuit.circuitState === 'half_open') {
    return { ...circuit, circuitFailures, ...open(circuit.circuitPauses + counts, nowMs) }
  }
  if (counts === 0) return circuit
  if (circuit.circuitState === 'open' || circuitFailures < FAILURES_TO_OPEN) return { ...circuit, circuitFailures }
  return { circuitFailures, circuitOpenedAt: nowMs, ...open(0, nowMs) }
}

function open(pauses: number, nowMs: number) {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(pauses, 30), LONGEST_PAUSE_MS)
  return { circuitState: 'open', circuitPauses: pauses, circuitProbeAt: nowMs + pauseMs } as const
}

/** Closed and without failures: a success changes nothing. */
function isClean(circuit: Circuit): boolean {
  return circuit.circuitState === 'closed' && circuit.circuitFailures === 0
}

/** The earliest time at which the circuit allows a request; 0 means now. */
export function opensAt({ circuitState, circuitProbeAt }: Pick<Circuit, 'circuitState' | 'circuitProbeAt'>): number {
  return circuitState === 'closed' ? 0 : (circuitProbeAt ?? 0)
}

/** The circuit while one delivery probes the endpoint. */
export function probing(endpoint: EndpointRow, nowMs: number): Pick<Circuit, 'circuitState' | 'circuitProbeAt'> {
  return { circuitState: 'half_open', circuitProbeAt: nowMs + endpoint.timeoutMs + PROBE_MARGIN_MS }
}

export function circuitView(circuit: Circuit) {
  return {
    state: circuit.circuitState,
    openedAt: isoTimeOrNull(circuit.circuitOpenedAt),
    nextProbeAt: isoTimeOrNull(circuit.circuitProbeAt),
    failures: circuit.circuitFailures,
  }
}
