/** In ascending order of severity. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** Optional fields of a record. They must not contain secrets, tokens or message text. */
export interface LogFields {
  accountId?: string | undefined
  provider?: string | undefined
  /** Names the work in progress as `feature.verb`: `sync.folder`, `webhooks.deliver`. */
  operation?: string | undefined
  requestId?: string | undefined
  durationMs?: number | undefined
  error?: unknown
  metadata?: Record<string, unknown> | undefined
}

export interface Log {
  trace(message: string, fields?: LogFields): void
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  fatal(message: string, fields?: LogFields): void
  /** A logger that adds these fields to every record. */
  with(fields: LogFields): Log
}

const ignore = () => {}

/** Discards every record; for tests and commands. */
export const silentLog: Log = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  fatal: ignore,
  with: () => silentLog,
}
