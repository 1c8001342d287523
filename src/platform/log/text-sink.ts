import type { LogEntry, LogSink } from './logger.ts'

interface TextSinkOptions {
  /** Writes text that ends with a line break. */
  write(text: string): void
  color: boolean
}

const GREEN = 32
const COLORS = { trace: 90, debug: 90, info: GREEN, warn: 33, error: 31, fatal: 31 } as const
const LEVEL_CHARS = 5
/** The message begins in this column; its further lines do, too. */
const INDENT = ' '.repeat(16)

/** Writes records for people: time, level and message on one line. `GET /logs` shows their other fields. */
export function textSink({ write, color }: TextSinkOptions): LogSink {
  return (entry) => {
    const time = entry.timestamp.slice(11, 19)
    const level = entry.level.padEnd(LEVEL_CHARS)
    const prefix = color ? `\x1b[2m${time}\x1b[22m \x1b[${COLORS[entry.level]}m${level}\x1b[39m` : `${time} ${level}`
    const account = entry.accountId === null ? '' : ` [${entry.accountId}]`
    write(`${prefix}  ${formatMessage(`${entry.message}${account}${formatError(entry)}`)}\n`)
  }
}

/** The messages of an error and its causes that the record does not mention yet; the stack of a programming error. */
function formatError({ error, message }: LogEntry): string {
  if (error === null) return ''
  if (PROGRAMMING_ERRORS.includes(error.name) && error.stack !== undefined) return `\n${error.stack}`
  const reasons: string[] = []
  for (let inner: typeof error | undefined = error; inner !== undefined; inner = inner.cause) {
    const text = inner.message
    if (text !== '' && ![message, ...reasons].some((earlier) => earlier.includes(text))) reasons.push(text)
  }
  return reasons.length === 0 ? '' : ` (${reasons.join('; ')})`
}

const PROGRAMMING_ERRORS = ['TypeError', 'ReferenceError', 'RangeError', 'SyntaxError', 'AssertionError']

/**
 * Replaces control characters, because a message may quote a mail server, and a terminal would obey them. A line break in a
 * message starts an indented line, which cannot be mistaken for another record.
 */
function formatMessage(message: string): string {
  return message
    .split('\n')
    .map((line) => line.replaceAll(/\p{Cc}/gu, '\uFFFD').trimEnd())
    .join(`\n${INDENT}`)
}
