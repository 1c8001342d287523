import { type DestinationStream, destination, pino } from 'pino'
import { OperatorError } from '../errors/operator-error.ts'
import type { Ids } from '../ids.ts'
import type { Clock } from '../time/clock.ts'
import { isoTime } from '../time/time.ts'
import { LOG_LEVELS, type Log, type LogFields, type LogLevel } from './log.ts'
import type { Redactor } from './redact.ts'

/** One record, as `GET /logs`, stdout and OTLP show it. Every text in it is redacted. */
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
  /** The process that wrote the record. */
  instance: string
}

/** The logged parts of an error. Other properties of library errors may hold requests and credentials. */
interface ErrorEntry {
  name: string
  message: string
  code?: string
  stack?: string
  cause?: ErrorEntry
  errors?: ErrorEntry[]
}

/** Receives every record of the configured level or above. Must not throw. */
export type LogSink = (entry: LogEntry) => void

interface LoggerDeps {
  level: LogLevel
  clock: Clock
  ids: Ids
  instance: string
  redactor: Redactor
  sinks: readonly LogSink[]
}

/** Builds and redacts each record once, and never throws; every sink receives the same object. Records below the level are not built. */
export function logger(deps: LoggerDeps, fields: LogFields = {}): Log {
  const minimum = LOG_LEVELS.indexOf(deps.level)
  const write = (level: LogLevel) => {
    if (LOG_LEVELS.indexOf(level) < minimum) return () => {}
    return (message: string, more: LogFields = {}) => {
      // Whatever is logged, and wherever it goes: the work that logs it must go on.
      const entry =
        attempt(() => logEntry(deps, level, message, merged(fields, more))) ??
        attempt(() => unreadable(deps, level, message))
      if (entry === undefined) return
      for (const sink of deps.sinks) attempt(() => sink(entry))
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

/**
 * Writes one JSON object per line. Warnings and errors are written at once: the last record before a crash is the one an operator
 * needs. Others are written together at the end of the turn of the event loop, because each write is a system call.
 */
export function stdoutSink(stream?: DestinationStream): LogSink {
  const turn = linesOfTurn(stream ?? destination({ fd: 1, sync: true }))
  // The logger has applied the level and completed the record; pino only serialises and writes it.
  const writer = pino(
    {
      level: 'trace',
      base: null,
      timestamp: false,
      messageKey: 'message',
      formatters: { level: (level) => ({ level }) },
    },
    turn,
  )
  return ({ level, message, ...rest }) => {
    writer[level](rest, message)
    if (LOG_LEVELS.indexOf(level) >= WARN) turn.flush()
  }
}

const WARN = LOG_LEVELS.indexOf('warn')

function linesOfTurn(stream: DestinationStream) {
  let lines = ''
  const flush = () => {
    if (lines === '') return
    process.off('exit', flush)
    const written = lines
    lines = ''
    stream.write(written)
  }
  return {
    write(line: string) {
      if (lines === '') {
        setImmediate(flush)
        // A process may exit before the next turn. Listeners that stay would be one for each service of the process.
        process.once('exit', flush)
      }
      lines += line
    },
    flush,
  }
}

const FIELDS = ['accountId', 'provider', 'operation', 'requestId', 'durationMs', 'error'] as const

function merged(fields: LogFields, more: LogFields): LogFields {
  const result: LogFields = { ...fields }
  for (const name of FIELDS) if (more[name] !== undefined) Object.assign(result, { [name]: more[name] })
  const metadata = fields.metadata === undefined ? more.metadata : { ...fields.metadata, ...more.metadata }
  return metadata === undefined ? result : { ...result, metadata }
}

/** Undefined when it throws. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}

/** The record of fields that cannot be read, such as a proxy or a getter that throws. */
function unreadable(deps: LoggerDeps, level: LogLevel, message: string): LogEntry {
  return logEntry(deps, level, message, { metadata: UNREADABLE })
}

function logEntry(deps: LoggerDeps, level: LogLevel, message: string, fields: LogFields): LogEntry {
  const { redactor } = deps
  return {
    id: deps.ids('log'),
    level,
    message: redactor.text(typeof message === 'string' ? message : '[unreadable]'),
    timestamp: isoTime(deps.clock.now()),
    accountId: fields.accountId ?? null,
    provider: fields.provider ?? null,
    operation: fields.operation ?? null,
    requestId: fields.requestId ?? null,
    durationMs: fields.durationMs === undefined ? null : Math.round(fields.durationMs * 10) / 10,
    error: toErrorEntry(fields.error, redactor),
    metadata:
      fields.metadata === undefined ? null : (attempt(() => redactor.record(fields.metadata ?? {})) ?? UNREADABLE),
    instance: deps.instance,
  }
}

const MAX_DEPTH = 5
const MAX_ERRORS = 5

const UNREADABLE = { unreadable: true }

function toErrorEntry(error: unknown, redactor: Redactor): ErrorEntry | null {
  if (error === undefined || error === null) return null
  return attempt(() => errorEntry(error, redactor)) ?? { name: 'Error', message: '[unreadable]' }
}

function errorEntry(error: unknown, redactor: Redactor, depth = 1, withoutStack = false): ErrorEntry {
  if (!(error instanceof Error)) return { name: 'Error', message: redactor.text(describe(error, redactor)) }
  const entry: ErrorEntry = { name: redactor.text(String(error.name)), message: redactor.text(String(error.message)) }
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    entry.code = redactor.text(String(error.code))
  }
  const isForOperator = withoutStack || error instanceof OperatorError
  if (typeof error.stack === 'string' && !isForOperator) entry.stack = redactor.text(error.stack)
  if (depth < MAX_DEPTH) {
    if (error.cause !== undefined && error.cause !== null) {
      entry.cause = errorEntry(error.cause, redactor, depth + 1, isForOperator)
    }
    // The message of an AggregateError (every address of a host failed) says nothing about its causes.
    if (error instanceof AggregateError) {
      entry.errors = Array.from<unknown>(error.errors)
        .slice(0, MAX_ERRORS)
        .map((inner) => errorEntry(inner, redactor, depth + 1, isForOperator))
    }
  }
  return entry
}

function describe(thrown: unknown, redactor: Redactor): string {
  return typeof thrown === 'object' ? JSON.stringify(redactor.value(thrown)) : String(thrown)
}
