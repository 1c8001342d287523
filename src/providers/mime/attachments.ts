import { cleanText, truncateText } from '../../lib/text.ts'

const MAX_NAME = 255

export interface NamedPart {
  /** The part's number in its message. */
  id: string
  type: string
  filename: string | undefined
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  'message/rfc822': '.eml',
  'text/calendar': '.ics',
  'text/plain': '.txt',
  'text/html': '.html',
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/gif': '.gif',
  'application/pdf': '.pdf',
}

/** The part's file name; without one, a name made from its number and type. */
export function attachmentName({ id, type, filename }: NamedPart): string {
  if (filename !== undefined && filename !== '') return truncateText(cleanText(filename), MAX_NAME)
  return `part-${id}${EXTENSIONS[type] ?? ''}`
}

/** A Content-ID without angle brackets, as `cid:` links use it. */
export function bareContentId(id: string | undefined): string | null {
  if (id === undefined) return null
  return truncateText(cleanText(id.trim().replace(/^<|>$/g, '')), MAX_NAME)
}
