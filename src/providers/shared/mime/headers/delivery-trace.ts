import type { Header } from './headers.ts'

/** RFC 5321, 4.4, and the fields in which mail servers write the recipient's address. */
const TRACE_FIELDS = new Set([
  'received',
  'return-path',
  'delivered-to',
  'envelope-to',
  'x-original-to',
  'x-envelope-to',
])

/**
 * The fields that servers added on the way of a message. Programs that copy it keep them, and some fold their lines differently. Empty for a
 * message that was never sent, as a draft.
 */
export function deliveryTrace(headers: readonly Header[]): string {
  return headers
    .flatMap(({ name, value }) => {
      const lowerName = name.toLowerCase()
      return TRACE_FIELDS.has(lowerName) ? `${lowerName}:${value.replace(/\s+/g, '')}` : []
    })
    .join('\n')
}
