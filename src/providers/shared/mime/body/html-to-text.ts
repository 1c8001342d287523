import { decodeHTML } from 'entities/decode'

/** The words of an HTML body, for search and snippets; never show them as HTML. Linear in the length. */
export function htmlToText(html: string): string {
  const words = withoutElements(html, ['style', 'script', 'head', 'title'])
    .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
    .replace(/<\/?(p|div|br|tr|td|th|li|ul|ol|table|h[1-6]|blockquote|hr|section|article)\b[^<>]*>/gi, '\n')
    .replace(/<[^<>]*>/g, '')
    // A tag cut off where the fetched text ends.
    .replace(/<(?:[a-z/!][^<>]*)?$/i, '')
  // A soft hyphen would split its word for search.
  return decodeHTML(words).replaceAll('\u00ad', '')
}

function withoutElements(html: string, names: readonly string[]): string {
  let rest = html
  for (const name of names) {
    const parts: string[] = []
    const open = new RegExp(`<${name}\\b`, 'gi')
    const close = new RegExp(`</${name}\\b[^<>]*>`, 'gi')
    let from = 0
    for (;;) {
      open.lastIndex = from
      const start = open.exec(rest)
      if (start === null) break
      parts.push(rest.slice(from, start.index))
      close.lastIndex = start.index
      from = close.exec(rest) === null ? rest.length : close.lastIndex
      if (from === rest.length) break
    }
    rest = parts.join(' ') + rest.slice(from)
  }
  return rest
}
