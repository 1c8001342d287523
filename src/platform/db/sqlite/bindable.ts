/** A parameter that both engines accept. */
export type Bindable = string | number | bigint | Buffer | null

/**
 * Converts every parameter of every statement, so that both engines receive the same values. Booleans become 0 or 1 (libsql
 * aborts the process on a boolean), dates ISO text, undefined NULL. NUL is removed from text, because PostgreSQL rejects it.
 * Throws a TypeError for objects (store JSON as text); its message does not contain the value.
 */
export function bindable(value: unknown): Bindable {
  switch (typeof value) {
    case 'boolean':
      return value ? 1 : 0
    case 'string':
      return value.includes('\0') ? value.replaceAll('\0', '') : value
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('a number bound to SQL must be finite')
      return value
    case 'bigint':
      return value
    case 'undefined':
      return null
    default:
      if (value === null) return null
      if (value instanceof Date) return value.toISOString()
      if (value instanceof Uint8Array) return Buffer.from(value)
      throw new TypeError(`cannot bind ${Array.isArray(value) ? 'a list' : typeof value} to SQL; store JSON as text`)
  }
}
