/**
 * Properties of the look and the size of an element and its text. Some, such as a large font in a line without height, can paint
 * far from the element: `containment.ts` bounds what all of them together can do.
 */
export const PROPERTIES: ReadonlySet<string> = new Set([
  ...'color background-color background opacity visibility display float clear vertical-align overflow'.split(' '),
  ...'font font-family font-size font-style font-variant font-weight line-height letter-spacing word-spacing'.split(
    ' ',
  ),
  ...'text-align text-decoration text-indent text-transform white-space word-break word-wrap overflow-wrap direction'.split(
    ' ',
  ),
  ...'width height min-width max-width min-height max-height box-sizing table-layout'.split(' '),
  ...'margin margin-top margin-right margin-bottom margin-left'.split(' '),
  ...'padding padding-top padding-right padding-bottom padding-left'.split(' '),
  ...'border border-top border-right border-bottom border-left border-color border-style border-width border-radius'.split(
    ' ',
  ),
  ...'border-top-color border-right-color border-bottom-color border-left-color border-collapse border-spacing'.split(
    ' ',
  ),
  ...'border-top-style border-right-style border-bottom-style border-left-style'.split(' '),
  ...'border-top-width border-right-width border-bottom-width border-left-width'.split(' '),
  ...'list-style list-style-type list-style-position caption-side empty-cells'.split(' '),
])

const MAX_VALUE = 500

/** The harmless declarations of a style attribute; empty when there are none. Values that load, compute or escape anything go. */
export function safeStyle(style: string): string {
  const kept: string[] = []
  for (const declaration of style.split(';')) {
    const colon = declaration.indexOf(':')
    const property = declaration.slice(0, Math.max(0, colon)).trim().toLowerCase()
    const value = declaration.slice(colon + 1).trim()
    if (PROPERTIES.has(property) && isSafeValue(property, value)) kept.push(`${property}:${value}`)
  }
  return kept.join(';')
}

function isSafeValue(property: string, value: string): boolean {
  if (value === '' || value.length > MAX_VALUE) return false
  // No other functions, such as url() and var(), and no escapes that could spell one.
  const withoutColours = value.replace(/\b(?:rgb|hsl)a?\([\d\s.,%/+-]*\)/gi, '')
  if (!/^[\w\s.,%#+!'"/-]*$/.test(withoutColours) || !hasClosedQuotes(value)) return false
  // Negative lengths move an element over others.
  return !MOVING.test(property) || !/(?:^|\s)-/.test(value)
}

const MOVING = /^(?:margin|text-indent|letter-spacing|word-spacing)/

function hasClosedQuotes(value: string): boolean {
  return /^(?:[^'"]|'[^'"]*'|"[^'"]*")*$/.test(value)
}
