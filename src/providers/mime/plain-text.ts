import { decodeHTML } from 'entities/decode'
import { truncateText } from '../../lib/text.ts'

/** The words of an HTML body, for search and snippets; never to be shown as HTML. Linear in its length. */
export function htmlToText(html: string): string {
  const words = withoutElements(html, ['style', 'script', 'head', 'title'])
    .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
    .replace(/<\/?(p|div|br|tr|td|th|li|ul|ol|table|h[1-6]|blockquote|hr|section|article)\b[^<>]*>/gi, '\n')
    .replace(/<[^<>]*>/g, '')
    // A tag that was cut off at the end of what was fetched.
    .replace(/<(?:[a-z/!][^<>]*)?$/i, '')
  // A soft hyphen would part the word in which it is.
  return decodeHTML(words).replaceAll('\u00ad', '')
}

/** One line of at most `limit` characters, as lists show it. */
export function oneLine(text: string, limit: number): string {
  const line = text
    .slice(0, limit * 4)
    .replace(INVISIBLE, ' ')
    .trim()
  return truncateText(line, limit)
}

/** White space, and what mail programs pad the preview line with. */
const INVISIBLE = /(?:\s|\u00ad|\u034f|[\u200b-\u200f]|\u2060|\ufeff)+/g

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
