const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Characters that terminals draw two columns wide: East Asian scripts (UAX 11) and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Emoji}\ufe0f/u
const ASCII = /^[\x20-\x7e]*$/
const ELLIPSIS = '\u2026'

/** How many columns of a terminal the text takes. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length
  return graphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0)
}

/** The text, cut with an ellipsis where it is wider, and filled up with spaces. */
export function fitted(text: string, width: number): string {
  const cut = displayWidth(text) <= width ? text : `${beginning(text, width - 1)}${ELLIPSIS}`
  return cut + ' '.repeat(Math.max(0, width - displayWidth(cut)))
}

function beginning(text: string, width: number): string {
  let result = ''
  let left = width
  for (const grapheme of graphemes(text)) {
    left -= graphemeWidth(grapheme)
    if (left < 0) break
    result += grapheme
  }
  return result
}

function graphemes(text: string): string[] {
  return Array.from(GRAPHEMES.segment(text), ({ segment }) => segment)
}

function graphemeWidth(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2
  return /^[\p{Mark}\p{Cf}]+$/u.test(grapheme) ? 0 : 1
}
