import type { EventRow } from '../../../events/index.ts'
import { isoTime, isoTimeOrNull } from '../../../lib/time.ts'
import { MASK, masked } from '../endpoints/custom-headers.ts'
import { USER_AGENT } from '../sending/attempt.ts'
import { deliveryBody } from '../sending/payload.ts'
import type { AttemptView, DeliveryView } from './api.ts'
import type { AttemptRow, DeliveryRow } from './delivery.ts'

/** A delivery as the API shows it. `attempts` in order; without `event` (erased) the payload is null. */
export function deliveryView(
  row: DeliveryRow,
  event: EventRow | undefined,
  attempts: readonly AttemptRow[],
): DeliveryView {
  const last = attempts.at(-1)
  const endedAt = last === undefined ? null : last.startedAt + last.durationMs
  return {
    id: row.id,
    endpointId: row.endpointId,
    eventId: row.eventId,
    eventType: row.eventType,
    accountId: row.accountId,
    status: row.status,
    trigger: row.trigger,
    test: row.test === 1,
    attempt: row.attempt,
    maxAttempts: row.maxAttempts,
    url: row.url,
    payload: event === undefined ? null : JSON.parse(deliveryBody(row, event)),
    requestHeaders: last === undefined ? {} : headersSent(row, last),
    responseStatus: last?.responseStatus ?? null,
    responseBody: last?.responseBody ?? null,
    error: last === undefined ? null : failure(last),
    durationMs: last?.durationMs ?? null,
    createdAt: isoTime(row.createdAt),
    lastAttemptAt: isoTimeOrNull(last?.startedAt ?? null),
    nextAttemptAt: isoTimeOrNull(row.nextAttemptAt),
    deliveredAt: row.status === 'success' ? isoTimeOrNull(endedAt) : null,
    attempts: attempts.map(attemptView),
  }
}

function attemptView(row: AttemptRow): AttemptView {
  return {
    attempt: row.attempt,
    startedAt: isoTime(row.startedAt),
    durationMs: row.durationMs,
    responseStatus: row.responseStatus,
    responseBody: row.responseBody,
    error: failure(row),
  }
}

function failure(row: AttemptRow): AttemptView['error'] {
  return row.errorKind === null ? null : { kind: row.errorKind, message: row.errorMessage ?? '' }
}

/** As `attempt` made them: all of it follows from the rows but the values of custom headers, which are not told anyway. */
function headersSent(row: DeliveryRow, last: AttemptRow): Record<string, string> {
  const custom: string[] = last.headerNames === null ? [] : JSON.parse(last.headerNames)
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    ...masked(custom.map((name) => name.toLowerCase())),
    'webhook-id': row.eventId,
    'webhook-timestamp': String(Math.floor(last.startedAt / 1000)),
    ...(last.signatures > 0 && { 'webhook-signature': Array(last.signatures).fill(`v1,${MASK}`).join(' ') }),
  }
}
