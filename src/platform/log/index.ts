/**
 * The log. Each record is redacted once and then goes to stdout as JSON, to the ring behind `GET /logs`, and to other sinks.
 * Every feature receives a `Log`; only `src/app` creates one.
 */
export { LOG_LEVELS, type Log, type LogFields, type LogLevel, silentLog } from './log.ts'
export { type LogEntry, type LogSink, logger, stdoutSink } from './logger.ts'
export { type Redactor, redactor } from './redact.ts'
export { type LogFilter, type LogRange, type LogRing, type LogView, logRing, matchesFilter } from './ring.ts'
export { textSink } from './text-sink.ts'
