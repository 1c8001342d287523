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
