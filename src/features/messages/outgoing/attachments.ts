import { type Static, Type } from 'typebox'
import { ATTACHMENT_BODY_LIMIT, type UploadedFile } from '../../../infra/http/index.ts'
import { type ErrorDetail, invalid } from '../../../lib/errors.ts'
import { nullable } from '../../../lib/json-schema.ts'
import type { RemoteFile } from '../../../providers/contract/index.ts'
import type { OutgoingAttachment } from '../../../providers/mime/index.ts'

/** Of one message. */
const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024
const MAX_ATTACHMENTS = 100

/** Options of a route that takes attachments: as base64, or as files of a multipart body. */
export const attachmentRoute = {
  config: { access: 'key:write', bodyTimeoutMs: 120_000, maxFileBytes: MAX_ATTACHMENT_BYTES },
  bodyLimit: ATTACHMENT_BODY_LIMIT,
} as const

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

const attachmentInput = Type.Object(
  {
    filename: Type.Optional(Type.String({ description: 'Required with `content`. Default for `part`: its filename.' })),
    contentType: Type.Optional(
      Type.String({ description: 'Default: the type of the `part`, else application/octet-stream.' }),
    ),
    content: Type.Optional(Type.String({ description: 'Base64.' })),
    part: Type.Optional(
      Type.String({
        description: 'Instead of `content`: the name of a file part of the same request (multipart/form-data).',
      }),
    ),
    contentId: Type.Optional(
      nullable(Type.String({ description: 'Shows the attachment inside the HTML body, as `cid:` and this id.' })),
    ),
    messageId: Type.Optional(
      Type.String({ description: 'Instead of `content`: the message that has the attachment. With `attachmentId`.' }),
    ),
    attachmentId: Type.Optional(Type.String()),
  },
  { title: 'AttachmentInput' },
)

/** The attachments of a request. */
export const attachmentList = Type.Array(attachmentInput, {
  maxItems: MAX_ATTACHMENTS,
  description: 'At most 25 MB together.',
})

/** An attachment of a stored message, still to be read. */
export interface AttachmentReference {
  /** The field that names it. */
  path: string
  messageId: string
  attachmentId: string
  contentId: string | null
}

export interface ParsedAttachments {
  attachments: OutgoingAttachment[]
  references: AttachmentReference[]
}

/**
 * Parses the attachments of a request, and adds one error per invalid entry. Files of the request that no entry names follow the
 * entries as they are.
 */
export function parseAttachments(
  given: Static<typeof attachmentList> = [],
  files: readonly UploadedFile[] = [],
  errors: ErrorDetail[],
): ParsedAttachments {
  const fail = (path: string, message: string) => {
    errors.push({ path, message })
    return []
  }
  const attachments = given.flatMap((entry, index): OutgoingAttachment[] => {
    const path = `body.attachments.${index}`
    const { filename, contentType, content, part, contentId = null } = entry
    if (part !== undefined && content === undefined) {
      const [file, second] = files.filter((one) => one.part === part)
      if (file === undefined) return fail(`${path}.part`, 'is not the name of a file part of this request')
      if (second !== undefined) return fail(`${path}.part`, 'is the name of several file parts')
      const about = { filename: filename ?? file.filename, contentType: contentType ?? file.contentType }
      return [{ ...about, content: file.content, contentId }]
    }
    if (content === undefined) return []
    if (!filename) fail(`${path}.filename`, 'is required')
    const base64 = content.replace(/\s+/g, '')
    if (!BASE64.test(base64)) fail(`${path}.content`, 'must be base64')
    const bytes = Buffer.from(base64, 'base64')
    return [{ filename: filename ?? '', contentType: contentType ?? DEFAULT_TYPE, content: bytes, contentId }]
  })
  const references = given.flatMap((entry, index): AttachmentReference[] => {
    const path = `body.attachments.${index}`
    const { content, part, messageId, attachmentId, contentId = null } = entry
    if (content !== undefined || part !== undefined) return []
    if (messageId !== undefined && attachmentId !== undefined) return [{ path, messageId, attachmentId, contentId }]
    return fail(path, 'must have content, part, or messageId and attachmentId')
  })
  const named = new Set(given.map(({ part }) => part))
  for (const { part, filename, contentType, content } of files) {
    if (!named.has(part)) attachments.push({ filename, contentType, content, contentId: null })
  }
  if (attachments.length + references.length > MAX_ATTACHMENTS) {
    fail('body.attachments', `must not have more than ${MAX_ATTACHMENTS} items together with the files`)
  }
  if (bytesOf(attachments) > MAX_ATTACHMENT_BYTES) fail('body.attachments', 'must not be larger than 25 MB together')
  return { attachments, references }
}

const DEFAULT_TYPE = 'application/octet-stream'

export function bytesOf(attachments: readonly OutgoingAttachment[]): number {
  return attachments.reduce((sum, { content }) => sum + content.length, 0)
}

/** An attachment that is still to be read. */
export interface UnreadAttachment {
  /** The field that names it. */
  path: string
  contentId: string | null
  open(): Promise<Pick<RemoteFile, 'contentType' | 'filename' | 'read'>>
}

/**
 * Reads attachments one after the other. Throws `validation_failed` as soon as they are larger than a message may be, together with
 * the `readBytes` read before.
 */
export async function readAttachments(
  unread: readonly UnreadAttachment[],
  readBytes = 0,
): Promise<OutgoingAttachment[]> {
  const read: OutgoingAttachment[] = []
  let total = readBytes
  for (const { path, contentId, open } of unread) {
    const { contentType, filename, read: readContent } = await open()
    const chunks: Buffer[] = []
    for await (const chunk of await readContent()) {
      total += chunk.length
      if (total > MAX_ATTACHMENT_BYTES) throw invalid(path, 'makes the attachments larger than 25 MB together')
      chunks.push(chunk)
    }
    read.push({ filename, contentType, contentId, content: Buffer.concat(chunks) })
  }
  return read
}
