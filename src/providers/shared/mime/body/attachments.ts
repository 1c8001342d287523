import { cleanText, truncateText } from '../../../../platform/formats/text.ts'
import type { Part } from '../tree/part.ts'

const MAX_NAME = 255

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

/** The part's file name without the folders that some programs write into it; without one, a name made from its number and type. */
export function attachmentName({ id, type, filename = '' }: Pick<Part, 'id' | 'type' | 'filename'>): string {
  const name = fileName(cleanText(filename).replace(/\s+/g, ' ').trim())
  return name === '' ? `part-${id}${EXTENSIONS[type] ?? ''}` : truncateText(name, MAX_NAME)
}

/** `C:\Users\ada\plan.doc`, `/home/ada/plan.doc` and `..\plan.doc` are `plan.doc`. A slash within a title becomes `_`. */
export function fileName(name: string): string {
  const isPath = /^(?:[a-z]:)?[\\/]|^\.{1,2}[\\/]|^[^\\/]*\\[^\\/]/i.test(name)
  const segment = isPath ? (name.split(/[\\/]/).at(-1) ?? '') : name.replace(/[\\/]/g, '_')
  return /^\.+$/.test(segment) ? '' : segment
}

/** A Content-ID without angle brackets, as `cid:` links use it. */
export function cleanContentId(id: string | undefined): string | undefined {
  if (id === undefined) return undefined
  const bare = cleanText(id).trim().replace(/^<|>$/g, '')
  return bare === '' ? undefined : truncateText(bare, MAX_NAME)
}
