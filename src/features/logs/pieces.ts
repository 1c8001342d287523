/** The bus carries 4 KB per hint; the rest is for the topic and the frame around a piece. */
const PIECE_BYTES = 3000

/** One part of a longer text. */
export interface Piece {
  index: number
  count: number
  text: string
}

/** Cuts a text so that each piece fits into a hint; base64, because a cut must not fall inside a character. */
export function cut(text: string): Piece[] {
  const encoded = Buffer.from(text).toString('base64')
  const count = Math.max(1, Math.ceil(encoded.length / PIECE_BYTES))
  return Array.from({ length: count }, (_, index) => ({
    index,
    count,
    text: encoded.slice(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  }))
}

/** Collects the pieces of one text, in whatever order they come, some perhaps twice. */
export function joiner(): (piece: Piece) => string | undefined {
  const pieces = new Map<number, string>()
  return ({ index, count, text }) => {
    pieces.set(index, text)
    if (pieces.size < count) return undefined
    const encoded = Array.from({ length: count }, (_, place) => pieces.get(place) ?? '').join('')
    return Buffer.from(encoded, 'base64').toString('utf8')
  }
}
