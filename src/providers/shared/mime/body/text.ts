import { decodeHTML } from 'entities/decode'
import { cleanText, truncateText } from '../../../../platform/formats/text.ts'

const MAX_TEXT = 4096
const MAX_SNIPPET = 200

/** The beginning of a message's text, as stored for search. */
export function searchText(text: string): string {
  return truncateText(cleanText(text).trim(), MAX_TEXT)
}

/** The line of text that message lists show. */
export function snippet(text: string): string {
  return oneLine(text, MAX_SNIPPET)
}

/** Joins lines, without white space and the invisible characters that newsletters pad their preview with. */
export function oneLine(text: string, limit: number): string {
  const line = text.slice(0, limit * 4).replace(PADDING, ' ')
  return truncateText(cleanText(line).trim(), limit)
}

const INVISIBLE = String.raw`(?:\s|\u00ad|\u034f|[\u200b-\u200f]|\u2060|\ufeff)`
/** Runs of them, but for a single space, which most are. */
const PADDING = new RegExp(`(?! (?!${INVISIBLE}))${INVISIBLE}+`, 'g')

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
