/** A bus payload holds 4 KB; the rest is for the topic and the other members of a part. */
const PART_BYTES = 3000

/** One part of a longer text. */
export interface Part {
  index: number
  count: number
  text: string
}

/** Splits a text into parts that fit the bus, as base64 so that no character is split. */
export function split(text: string): Part[] {
  const encoded = Buffer.from(text).toString('base64')
  const count = Math.max(1, Math.ceil(encoded.length / PART_BYTES))
  return Array.from({ length: count }, (_, index) => ({
    index,
    count,
    text: encoded.slice(index * PART_BYTES, (index + 1) * PART_BYTES),
  }))
}

/** Joins the parts of one text. They may arrive in any order and more than once. */
export function joiner(): (part: Part) => string | undefined {
  const parts = new Map<number, string>()
  return ({ index, count, text }) => {
    parts.set(index, text)
    if (parts.size < count) return undefined
    const encoded = Array.from({ length: count }, (_, at) => parts.get(at) ?? '').join('')
    return Buffer.from(encoded, 'base64').toString('utf8')
  }
}
