import type { Redactor } from './redact.ts'

/** What a record says of an error. Only these parts: other properties of library errors hold requests and credentials. */
export interface ErrorEntry {
  name: string
  message: string
  code?: string
  stack?: string
  cause?: ErrorEntry
  errors?: ErrorEntry[]
}

const MAX_DEPTH = 5
const MAX_ERRORS = 5

export function errorEntry(error: unknown, redactor: Redactor, depth = 1): ErrorEntry {
  if (!(error instanceof Error)) return { name: 'Error', message: redactor.text(describe(error, redactor)) }
  const entry: ErrorEntry = { name: redactor.text(String(error.name)), message: redactor.text(String(error.message)) }
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    entry.code = redactor.text(String(error.code))
  }
  if (typeof error.stack === 'string') entry.stack = redactor.text(error.stack)
  if (depth < MAX_DEPTH) {
    if (error.cause !== undefined && error.cause !== null) entry.cause = errorEntry(error.cause, redactor, depth + 1)
    // An AggregateError (all addresses of a host failed) says nothing by itself.
    if (error instanceof AggregateError) {
      entry.errors = error.errors.slice(0, MAX_ERRORS).map((inner) => errorEntry(inner, redactor, depth + 1))
    }
  }
  return entry
}

function describe(thrown: unknown, redactor: Redactor): string {
  if (typeof thrown !== 'object') return String(thrown)
  return JSON.stringify(redactor.value(thrown))
}
