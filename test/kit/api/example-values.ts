import { createHash } from 'node:crypto'

/** Values that a service generates, as the examples show them and as the running service has them. */
export interface ExampleValues {
  /** Both must be texts that occur nowhere else. */
  bind(shown: string, real: string): void
  /** Throws for an id that no request has created. */
  toReal(text: string): string
  /** Ids without a value in the examples get an invented one, the same for the same order of ids. */
  toShown(text: string): string
}

const ID = /\b(acc|dlv|evt|ins|lbl|log|msg|req|thr|whe)_([0-9a-z]{16,26})\b/g
/** Examples of 404 have such ids. */
const UNKNOWN = /zzzz$/
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

export function exampleValues(): ExampleValues {
  const reals = new Map<string, string>()
  const shown = new Map<string, string>()
  const invented = new Map<string, number>()

  /** Looks like an id of the minutes that the examples take place in. */
  function invent(prefix: string, length: number): string {
    const count = (invented.get(prefix) ?? 0) + 1
    invented.set(prefix, count)
    const digest = createHash('sha256').update(`${prefix} ${count}`).digest()
    const tail = Array.from(digest, (byte) => ALPHABET[byte % 32]).join('')
    return `${prefix}_${length === 26 ? `01k9zw${tail}` : digest.toString('hex')}`.slice(0, prefix.length + 1 + length)
  }

  return {
    bind(value, real) {
      reals.set(value, real)
      shown.set(real, value)
    },
    toReal(text) {
      const replaced = [...reals].reduce((result, [value, real]) => result.replaceAll(value, real), text)
      for (const [id] of text.matchAll(ID)) {
        if (!reals.has(id) && !UNKNOWN.test(id))
          throw new Error(`The example uses ${id}, which no request has created.`)
      }
      return replaced
    },
    toShown(text) {
      for (const [id, prefix = '', rest = ''] of text.matchAll(ID)) {
        if (shown.has(id) || reals.has(id) || UNKNOWN.test(id)) continue
        shown.set(id, invent(prefix, rest.length))
      }
      return [...shown].reduce((result, [real, value]) => result.replaceAll(real, value), text)
    },
  }
}
