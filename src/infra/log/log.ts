/** From the least important on. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** What a record may carry beside its message. Never a secret, a token, or the text of a mail. */
export interface LogFields {
  accountId?: string | undefined
  provider?: string | undefined
  /** What was being done, as `room.verb`: `sync.folder`, `webhooks.deliver`. */
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
