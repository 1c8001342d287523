/** The code of an error of Node, a driver or a library, such as `ECONNREFUSED`. Empty when it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** The message of an error, or of its cause when that says more, with its code. For operators. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error.cause instanceof Error ? error.cause : error
  const code = errorCode(inner)
  const text = inner.message || error.message || code || error.name
  return code === '' || text.includes(code) ? text : `${text} (${code})`
}
