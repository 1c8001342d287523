/**
 * Distinguishes faults of this code from those of servers and users. What turns any error into a `ProviderError`, a 400 or "nothing found"
 * must let programming errors pass, so that they become a 500 and a log entry.
 */

const NAMES: ReadonlySet<string> = new Set(['TypeError', 'ReferenceError', 'RangeError', 'AssertionError'])

/** Codes with which Node refuses a value that came from outside, such as an address or a text in another character set. */
const CODES_OF_INPUT: ReadonlySet<string> = new Set([
  'ERR_ENCODING_INVALID_ENCODED_DATA',
  'ERR_ENCODING_NOT_SUPPORTED',
  'ERR_INVALID_CHAR',
  'ERR_INVALID_URL',
  'ERR_SOCKET_BAD_PORT',
  'ERR_UNESCAPED_CHARACTERS',
])

/**
 * Goes by the name, which an error keeps on its way between threads. `SyntaxError` and `URIError` are what parsers of texts throw. An
 * error with a cause is not one: `fetch` reports a failed connection as a `TypeError` with the failure as its cause.
 */
export function isProgrammingError(error: unknown): boolean {
  if (!(error instanceof Error) || !NAMES.has(error.name) || error.cause !== undefined) return false
  return !('code' in error && typeof error.code === 'string' && CODES_OF_INPUT.has(error.code))
}

/** Throws the error again if it is a programming error. */
export function rethrowProgrammingError(error: unknown): void {
  if (isProgrammingError(error)) throw error
}

/** For `catch` of a promise: gives the value instead of a failure from outside, and throws programming errors again. */
export function replaceFailure<T>(value: T): (error: unknown) => T {
  return (error) => {
    rethrowProgrammingError(error)
    return value
  }
}
