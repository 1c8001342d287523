import { type EntryDeps, type LogEntry, logEntry } from './entry.ts'
import { LOG_LEVELS, type Log, type LogFields, type LogLevel } from './log.ts'

/** Takes every record that passes the level: stdout, the ring, the exporter. Must not throw. */
export type LogSink = (entry: LogEntry) => void

export interface LoggerDeps extends EntryDeps {
  level: LogLevel
  sinks: readonly LogSink[]
}

/** A record is made and redacted once; every sink gets the same object. Below the level nothing is made at all. */
export function logger(deps: LoggerDeps, fields: LogFields = {}): Log {
  const least = LOG_LEVELS.indexOf(deps.level)
  const write = (level: LogLevel) => {
    if (LOG_LEVELS.indexOf(level) < least) return () => {}
    return (message: string, more: LogFields = {}) => {
      const entry = logEntry(deps, level, message, merged(fields, more))
      for (const sink of deps.sinks) sink(entry)
    }
  }
  return {
    trace: write('trace'),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    fatal: write('fatal'),
    with: (more) => logger(deps, merged(fields, more)),
  }
}

function merged(fields: LogFields, more: LogFields): LogFields {
  const given = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined))
  return { ...fields, ...given, ...(fields.metadata && { metadata: { ...fields.metadata, ...more.metadata } }) }
}
