import type { Detailed } from './api.ts'

/** A condition that an operator should know of. The message contains no secret. */
export interface Warning {
  code: string
  message: string
  remedy: string
}

/** One line per part: what an operator does when it fails. */
export const REMEDIES = {
  database: {
    sqlite: 'Check that DATA_DIR is writable and its disk has free space. The service recovers by itself.',
    postgres: 'Check that PostgreSQL runs and that DATABASE_URL is right. The service recovers by itself.',
  },
  memory: 'Restart this instance; it keeps this part in its memory.',
  redis: 'Check that Redis runs, has free memory, and that REDIS_URL is right. The service recovers by itself.',
  licence: 'Set a valid SERVICE_LICENSE_KEY. Connected accounts go on.',
  settings: 'Change the setting and restart; `posthorn config check` lists all of them.',
  search: 'The index is built again by itself; if this lasts, see search.index in the log.',
  gmailPush:
    'Check PUBSUB_TOPIC_NAME, PUBSUB_SUBSCRIPTION_NAME and APPLICATION_CREDENTIALS. Gmail is polled meanwhile.',
} as const

const OLD_MS = 15 * 60_000
const OLD_EVENTS_MS = 60_000
const LATE_MS = 10 * 60_000
const SLOW_LOOP_MS = 250
const FULL_PERCENT = 90
/**
 * After a start accounts connect, modules load and what waited meanwhile is sent, so nothing is on time yet. Only then do delays need a
 * person.
 */
const STARTED_MS = 2 * 60_000

export type Measured = Pick<
  Detailed,
  'sync' | 'outbox' | 'deliveries' | 'events' | 'eventLoop' | 'memory' | 'logExport'
>

/** Warnings about what grows, lags or is slow. The thresholds are those of the alerts in deploy/. */
export function measuredWarnings(measured: Measured, uptimeMs: number): Warning[] {
  const { sync, outbox, deliveries, events, eventLoop, memory, logExport } = measured
  const found: Warning[] = []
  const warn = (isDue: boolean, code: string, message: string, remedy: string) => {
    if (isDue) found.push({ code, message, remedy })
  }
  const isStarted = uptimeMs >= STARTED_MS
  const exceeds = (delayMs: number | null | undefined, limitMs: number) => isStarted && (delayMs ?? 0) > limitMs
  if (sync !== null) {
    warn(
      isStarted && sync.stalledAccounts > 0,
      'sync_stalled',
      `${count(sync.stalledAccounts, 'account')} had no successful check in three intervals.`,
      'List them with GET /accounts?status=error; statusReason of each says why.',
    )
    warn(
      exceeds(sync.greatestLagMs, LATE_MS),
      'sync_late',
      `The most overdue account is ${minutes(sync.greatestLagMs)} late.`,
      'See GET /debounced-queue/status. If many accounts wait, add an instance; else see sync.* in the log.',
    )
    warn(
      isStarted && sync.unownedAccounts > 0,
      'accounts_unowned',
      `No instance runs ${count(sync.unownedAccounts, 'account')}.`,
      'Normal for a moment while instances join or leave. If it lasts, see accounts.ownership in the log.',
    )
  }
  warn(
    exceeds(outbox?.oldestAgeMs, OLD_MS),
    'outbox_old',
    `The oldest message to send is ${minutes(outbox?.oldestAgeMs)} late.`,
    'List them with GET /outbox?status=queued; error of each says why.',
  )
  warn(
    (outbox?.uncertain ?? 0) > 0,
    'outbox_uncertain',
    `The outcome of ${count(outbox?.uncertain ?? 0, 'message')} is unknown: the connection broke during the transfer.`,
    'List them with GET /outbox?status=uncertain, and decide with POST /outbox/{id}/resolve.',
  )
  warn(
    exceeds(deliveries?.oldestAgeMs, OLD_MS),
    'deliveries_old',
    `The oldest webhook delivery has waited for ${minutes(deliveries?.oldestAgeMs)}.`,
    'Look for endpoints with an open circuit in GET /webhooks/endpoints, and at GET /webhooks/deliveries?status=pending.',
  )
  warn(
    exceeds(events?.oldestAgeMs, OLD_EVENTS_MS),
    'events_old',
    `The oldest event without deliveries has waited for ${minutes(events?.oldestAgeMs)}.`,
    'See webhooks.fan-out in the log; restart the instance if it says nothing.',
  )
  warn(
    exceeds(eventLoop.p99Ms, SLOW_LOOP_MS),
    'event_loop_slow',
    `The event loop of this instance was up to ${eventLoop.p99Ms} ms late in the last minute (p99).`,
    'The instance is overloaded: give it more CPU, or add an instance.',
  )
  warn(
    memory.percentage > FULL_PERCENT,
    'memory_full',
    `This instance uses ${memory.percentage} % of the memory that it may use.`,
    'Raise the memory limit, or add an instance. docs/operations.md describes the sizes.',
  )
  warn(
    logExport.dropped > 0,
    'log_export_dropped',
    `The export dropped ${count(logExport.dropped, 'log record')} since the start.`,
    'Check OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_LOGS_HEADERS and the collector, or raise OTEL_LOGS_MAX_QUEUE_SIZE.',
  )
  return found
}

function minutes(ms: number | null | undefined): string {
  return `${Math.round((ms ?? 0) / 60_000)} min`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
