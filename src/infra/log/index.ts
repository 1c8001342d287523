/**
 * The log: one record, redacted once, to stdout as JSON, to the ring behind `GET /logs`, and to any other sink.
 * `Log` is what every room is handed; only `app.ts` makes one.
 */
export type { LogEntry } from './entry.ts'
export { LOG_LEVELS, type Log, type LogFields, type LogLevel } from './log.ts'
export { type LogSink, logger } from './logger.ts'
export { type Redactor, redactor } from './redact.ts'
export { type LogFilter, type LogRange, type LogRing, type LogView, logRing } from './ring.ts'
export { silentLog } from './silent.ts'
export { stdoutSink } from './stdout.ts'
