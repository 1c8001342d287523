import { cleanText, truncateText } from '../../lib/text.ts'

const NAME_LIMIT = 255

export interface NamedPart {
  /** The part's number in its mail. */
  id: string
  type: string
  filename: string | undefined
}

/** What a part is called when it is saved: its own name, else one made of its number. */
export function attachmentName({ id, type, filename }: NamedPart): string {
  if (filename !== undefined && filename !== '') return truncateText(cleanText(filename), NAME_LIMIT)
  const endings: Readonly<Record<string, string>> = {
    'message/rfc822': '.eml',
    'text/calendar': '.ics',
    'text/plain': '.txt',
    'text/html': '.html',
    'image/jpeg': '.jpg',
    'image/png': '.png',
    'image/gif': '.gif',
    'application/pdf': '.pdf',
  }
  return `part-${id}${endings[type] ?? ''}`
}

/** A Content-ID without its brackets, as `cid:` addresses name it. */
export function bareContentId(id: string | undefined): string | null {
  if (id === undefined) return null
  return truncateText(cleanText(id.trim().replace(/^<|>$/g, '')), NAME_LIMIT)
}
