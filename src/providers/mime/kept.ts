import { cleanText, truncateText } from '../../lib/text.ts'
import { oneLine } from './plain-text.ts'

const TEXT_LIMIT = 4096
const SNIPPET_LIMIT = 200

/** The beginning of a mail's text, as it is stored for search. */
export function keptText(text: string): string {
  return truncateText(cleanText(text).trim(), TEXT_LIMIT)
}

/** One line of a mail's text, as lists show it. */
export function keptSnippet(text: string): string {
  return oneLine(text, SNIPPET_LIMIT)
}
