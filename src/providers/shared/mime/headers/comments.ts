/** A field without its comments (RFC 5322 3.2.2), which nest. Text in quotes and in angle brackets has none. An open one ends the field. */
export function withoutComments(value: string): string {
  if (!value.includes('(')) return value
  const pieces: string[] = []
  let depth = 0
  let start = 0
  let isQuoted = false
  for (let at = 0; at < value.length; at += 1) {
    const char = value[at]
    if (char === '\\' && (depth > 0 || isQuoted)) at += 1
    else if (char === '"' && depth === 0) isQuoted = !isQuoted
    else if (isQuoted) continue
    else if (char === '(') {
      if (depth === 0) pieces.push(value.slice(start, at))
      depth += 1
    } else if (char === ')' && depth > 0) {
      depth -= 1
      if (depth === 0) start = at + 1
    }
  }
  if (depth === 0) pieces.push(value.slice(start))
  return pieces.join(' ')
}
