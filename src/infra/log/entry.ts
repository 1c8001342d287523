import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { isoTime } from '../../lib/time.ts'
import { type ErrorEntry, errorEntry } from './error-entry.ts'
import type { LogFields, LogLevel } from './log.ts'
import type { Redactor } from './redact.ts'

/** One record, as `GET /logs`, stdout and OTLP carry it. Everything in it went through the redactor. */
export interface LogEntry {
  id: string
  level: LogLevel
  message: string
  timestamp: string
  accountId: string | null
  provider: string | null
  operation: string | null
  requestId: string | null
  durationMs: number | null
  error: ErrorEntry | null
  metadata: Record<string, unknown> | null
  /** Which process wrote it. */
  instance: string
}

export interface EntryDeps {
  clock: Clock
  ids: Ids
  instance: string
  redactor: Redactor
}

export function logEntry(deps: EntryDeps, level: LogLevel, message: string, fields: LogFields): LogEntry {
  const { redactor } = deps
  return {
    id: deps.ids('log'),
    level,
    message: redactor.text(message),
    timestamp: isoTime(deps.clock.now()),
    accountId: fields.accountId ?? null,
    provider: fields.provider ?? null,
    operation: fields.operation ?? null,
    requestId: fields.requestId ?? null,
    durationMs: fields.durationMs === undefined ? null : Math.round(fields.durationMs * 10) / 10,
    error: fields.error === undefined || fields.error === null ? null : errorEntry(fields.error, redactor),
    metadata: fields.metadata === undefined ? null : redactor.record(fields.metadata),
    instance: deps.instance,
  }
}
