import { cleanText, truncateText } from '../../lib/text.ts'

const MAX_ERROR_CHARS = 500

/** What is kept of an error that ended a run. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return truncateText(cleanText(text), MAX_ERROR_CHARS)
}
