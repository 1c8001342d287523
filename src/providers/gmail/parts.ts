import type { RemoteAttachment } from '../contract/index.ts'
import { attachmentName, bareContentId, cleanField, decodeBytes, type Header, headerValue } from '../mime/index.ts'

const ATTACHMENTS_LIMIT = 200
const TYPE_LIMIT = 255
const DEPTH_LIMIT = 100
/** The part of a mail that has but one goes without a number; those of others begin with this one as well. */
const ONLY_PART = '0'

/** A part of a mail as Gmail describes it, its transfer encoding undone. What it lacks or has otherwise is read as absent. */
export interface Part {
  /** Gmail's number of it, stable within the mail. */
  id: string
  type: string
  filename: string | undefined
  headers: Header[]
  sizeBytes: number
  /** Another with every answer, and each works for a while only. */
  attachmentId: string | undefined
  /** Base64url; absent for attachments. */
  data: string | undefined
}

/** The parts that hold something, in the order of the mail. An attached mail is one part; its own parts are not ours. */
export function leafParts(payload: unknown, depth = 0): Part[] {
  const fields = record(payload)
  const type = text(fields.mimeType)?.toLowerCase() ?? 'text/plain'
  const children = Array.isArray(fields.parts) ? fields.parts : []
  if (type !== 'message/rfc822' && children.length > 0 && depth < DEPTH_LIMIT) {
    return children.flatMap((child) => leafParts(child, depth + 1))
  }
  if (type.startsWith('multipart/')) return []
  const body = record(fields.body)
  return [
    {
      id: text(fields.partId) || ONLY_PART,
      type,
      filename: text(fields.filename) || undefined,
      headers: headersOf(fields.headers),
      sizeBytes: typeof body.size === 'number' && body.size >= 0 ? Math.trunc(body.size) : 0,
      attachmentId: text(body.attachmentId),
      data: text(body.data),
    },
  ]
}

export function headersOf(list: unknown): Header[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((item) => {
    const { name, value } = record(item)
    return typeof name === 'string' && typeof value === 'string' ? [{ name, value }] : []
  })
}

/** A part people read as the mail itself. */
export function isBodyPart(part: Part, type: 'text/plain' | 'text/html'): boolean {
  return part.type === type && part.filename === undefined && dispositionOf(part) !== 'attachment'
}

/** Everything that is not the text of the mail. */
export function attachmentsOf(parts: readonly Part[]): RemoteAttachment[] {
  return parts
    .filter((part) => !isBodyPart(part, 'text/plain') && !isBodyPart(part, 'text/html'))
    .slice(0, ATTACHMENTS_LIMIT)
    .map((part) => {
      const contentId = headerValue(part.headers, 'content-id')
      const disposition = dispositionOf(part)
      return {
        id: part.id,
        filename: attachmentName(part),
        contentType: cleanField(part.type, TYPE_LIMIT),
        sizeBytes: part.sizeBytes,
        inline: disposition === 'inline' || (disposition === undefined && contentId !== undefined),
        contentId: bareContentId(contentId),
      }
    })
}

/**
 * The text of a part. Gmail mostly hands it out as UTF-8 and leaves the charset of the original beside it; where the bytes are no
 * UTF-8, or switch charsets by escapes, that charset is meant. `isCut`: they may end inside a character.
 */
export function partText(part: Part, bytes: Buffer, isCut = false): string {
  const declared = headerValue(part.headers, 'content-type')
  const charset = /charset\s*=\s*"?([^\s";]{1,40})/i.exec(declared ?? '')?.[1]?.toLowerCase() ?? ''
  const escapes = charset.startsWith('iso-2022-') && bytes.includes(0x1b)
  const utf8 = escapes ? undefined : decodedAs('utf-8', bytes, { fatal: true, isCut })
  return utf8 ?? decodedAs(charset, bytes, { fatal: false, isCut }) ?? decodeBytes(bytes)
}

function decodedAs(charset: string, bytes: Buffer, { fatal, isCut }: { fatal: boolean; isCut: boolean }) {
  try {
    return charset === '' ? undefined : new TextDecoder(charset, { fatal }).decode(bytes, { stream: isCut })
  } catch {
    return undefined
  }
}

function dispositionOf(part: Part): string | undefined {
  return headerValue(part.headers, 'content-disposition')?.split(';')[0]?.trim().toLowerCase()
}

export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
