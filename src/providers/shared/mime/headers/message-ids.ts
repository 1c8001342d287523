import { cleanText } from '../../../../platform/formats/text.ts'
import { withoutComments } from './comments.ts'
import { decodeWords } from './encoded-words.ts'

const MAX_ID = 16_384
const MAX_FIELD = 256 * 1024

/**
 * The ids of Message-ID, In-Reply-To and References, each as `<…>`, in order and without repeats. Reads what programs write: ids without
 * brackets or without anything between them, comments, folds within an id, encoded words. Words around ids in brackets, as old
 * programs write in In-Reply-To, are none.
 */
export function readMessageIds(value: string): string[] {
  if (value === '') return []
  const text = cleanText(withoutComments(decodeWords(value.slice(0, MAX_FIELD))))
  const bracketed = readBracketed(text)
  const found = bracketed.length > 0 ? bracketed : readBare(text)
  const ids = found.filter((id) => id !== '' && id.length <= MAX_ID).map((id) => `<${id}>`)
  return [...new Set(ids)]
}

/** The first and the last ids: the first names the thread, the last the message that was replied to. */
export function limitReferences(ids: readonly string[], limit: number): string[] {
  return ids.length <= limit ? [...ids] : [...ids.slice(0, 1), ...ids.slice(1 - limit)]
}

/** A fold may have put white space into an id. */
function readBracketed(text: string): string[] {
  const ids: string[] = []
  let start = text.indexOf('<')
  let close = text.indexOf('>')
  while (start !== -1) {
    const nextOpen = text.indexOf('<', start + 1)
    // Searched for once: without an end, each search would go through all of the text.
    if (close !== -1 && close < start) close = text.indexOf('>', start + 1)
    if (close !== -1 && (nextOpen === -1 || close < nextOpen)) {
      ids.push(text.slice(start + 1, close).replace(/\s+/g, ''))
    } else if (text.slice(start + 1, nextOpen === -1 ? undefined : nextOpen).includes('@')) {
      // Without an end: up to the next space.
      ids.push(/^[^\s>]*/.exec(text.slice(start + 1, nextOpen === -1 ? undefined : nextOpen).trimStart())?.[0] ?? '')
    }
    start = nextOpen
  }
  return ids
}

function readBare(text: string): string[] {
  const words = text.split(/[\s,;<>]+/).filter((word) => word !== '')
  const withHost = words.filter((word) => word.includes('@'))
  return withHost.length > 0 ? withHost : words.slice(0, 1)
}
