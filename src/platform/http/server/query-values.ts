/** Query and path values are text. `NaN` never results: text that is no number stays text, which the schema then refuses. */
type Reader = (text: string) => unknown

const READERS: Readonly<Record<string, Reader>> = {
  integer: (text) => (/^-?\d+$/.test(text) ? Number(text) : text),
  number: (text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
}

/**
 * Converts text to the numbers and booleans that the schema of a query or path declares. Only decimal digits are a number: `Number`
 * alone also reads `1e2`, `0x10`, ` 5` and the empty text. A repeated parameter is a list and stays one.
 */
export function queryReader(schema: unknown): (value: unknown) => unknown {
  const readers = Object.entries(membersOf(schema)).flatMap(([name, member]) => {
    const reader = READERS[typeOf(member)]
    return reader === undefined ? [] : [[name, reader] as const]
  })
  if (readers.length === 0) return (value) => value
  return (value) => {
    const converted: Record<string, unknown> = { ...Object(value) }
    for (const [name, reader] of readers) {
      const text = converted[name]
      if (typeof text === 'string') converted[name] = reader(text)
    }
    return converted
  }
}

function membersOf(schema: unknown): Record<string, unknown> {
  return { ...Object(Object(schema).properties) }
}

function typeOf(schema: unknown): string {
  const { type } = Object(schema)
  return typeof type === 'string' ? type : ''
}
