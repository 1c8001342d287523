import type { Static } from 'typebox'
import * as Type from 'typebox'
import { type ErrorDetail, invalid } from '../../platform/errors/app-error.ts'
import { documented, nullable } from '../../platform/formats/json-schema.ts'
import { ATTACHMENT_BODY_LIMIT, type UploadedFile } from '../../platform/http/index.ts'
import type { OutgoingAttachment, RemoteFile } from '../../providers/contract/index.ts'
import { parseFileType } from '../../providers/shared/mime/index.ts'
import type { MessageReader } from '../messages/index.ts'

/** The limit for one message. */
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
      Type.String({
        description:
          'With its parameters, as in `text/calendar; method=REQUEST`. Not a multipart type. Default: the type of the `part`, without parameters, else application/octet-stream.',
      }),
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
  {
    title: 'AttachmentInput',
    ...documented({
      anyOf: [
        { required: ['content', 'filename'] },
        { required: ['part'] },
        { required: ['messageId', 'attachmentId'] },
      ],
    }),
  },
)

/** The attachments of a request. */
export const attachmentList = Type.Array(attachmentInput, {
  maxItems: MAX_ATTACHMENTS,
  description: 'At most 25 MB together.',
})

/** An attachment of a request: its content, or which attachment of a stored message it is. */
export type ParsedAttachment = OutgoingAttachment | AttachmentReference

interface AttachmentReference {
  /** The field that names it. */
  path: string
  messageId: string
  attachmentId: string
  contentId: string | null
}

/**
 * Parses the attachments of a request in their order, and adds one error per invalid entry. Files of the request that no entry names
 * follow the entries as they are.
 */
export function parseAttachments(
  entries: Static<typeof attachmentList> = [],
  files: readonly UploadedFile[] = [],
  errors: ErrorDetail[],
): ParsedAttachment[] {
  const fail = (path: string, message: string) => {
    errors.push({ path, message })
    return []
  }

  function parseType(path: string, text: string): string {
    const { contentType, problem } = parseFileType(text)
    if (problem !== undefined) fail(path, problem)
    return contentType ?? DEFAULT_TYPE
  }

  function parse(entry: Static<typeof attachmentInput>, index: number): ParsedAttachment[] {
    const path = `body.attachments.${index}`
    const { filename, content, part, messageId, attachmentId, contentId = null } = entry
    const contentType = entry.contentType && parseType(`${path}.contentType`, entry.contentType)
    if (content !== undefined) {
      if (!filename) fail(`${path}.filename`, 'is required')
      const base64 = content.replace(/\s+/g, '')
      if (!BASE64.test(base64)) fail(`${path}.content`, 'must be base64')
      const bytes = Buffer.from(base64, 'base64')
      return [{ filename: filename ?? '', contentType: contentType || DEFAULT_TYPE, content: bytes, contentId }]
    }
    if (part !== undefined) {
      const [file, second] = files.filter((file) => file.part === part)
      if (file === undefined) return fail(`${path}.part`, 'is not the name of a file part of this request')
      if (second !== undefined) return fail(`${path}.part`, 'is the name of several file parts')
      const ownType = contentType || parseType(`${path}.contentType`, file.contentType)
      return [{ filename: filename ?? file.filename, contentType: ownType, content: file.content, contentId }]
    }
    if (messageId !== undefined && attachmentId !== undefined) return [{ path, messageId, attachmentId, contentId }]
    return fail(path, 'must have content, part, or messageId and attachmentId')
  }

  const named = new Set(entries.map(({ part }) => part))
  const unnamed = files.filter(({ part }) => !named.has(part))
  const parsed = [
    ...entries.flatMap(parse),
    ...unnamed.map(({ part, filename, contentType, content }) => {
      return { filename, contentType: parseType(`body.${part}`, contentType), content, contentId: null }
    }),
  ]
  if (parsed.length > MAX_ATTACHMENTS) {
    fail('body.attachments', `must not have more than ${MAX_ATTACHMENTS} items together with the files`)
  }
  if (countBytes(parsed) > MAX_ATTACHMENT_BYTES) fail('body.attachments', 'must not be larger than 25 MB together')
  return parsed
}

const DEFAULT_TYPE = 'application/octet-stream'

/** Counts only attachments whose content is known. */
function countBytes(attachments: readonly object[]): number {
  return attachments.reduce(
    (sum, attachment) =>
      sum + ('content' in attachment && Buffer.isBuffer(attachment.content) ? attachment.content.length : 0),
    0,
  )
}

/** An attachment that is still to be read. */
export interface UnreadAttachment {
  /** The field that names it. */
  path: string
  contentId: string | null
  open(): Promise<Pick<RemoteFile, 'contentType' | 'filename' | 'read'>>
}

/** Makes attachments readable that are references. */
export function openReferences(
  reader: Pick<MessageReader, 'openAttachment'>,
  accountId: string,
  attachments: readonly ParsedAttachment[],
): (OutgoingAttachment | UnreadAttachment)[] {
  return attachments.map((attachment) => {
    if ('content' in attachment) return attachment
    const { path, contentId, messageId, attachmentId } = attachment
    return { path, contentId, open: () => reader.openAttachment(accountId, messageId, attachmentId) }
  })
}

/**
 * Reads attachments one after the other, in their order. Throws `validation_failed` as soon as all together are larger than a message
 * may be.
 */
export async function readAttachments(
  attachments: readonly (OutgoingAttachment | UnreadAttachment)[],
): Promise<OutgoingAttachment[]> {
  const read: OutgoingAttachment[] = []
  let total = countBytes(attachments)
  for (const attachment of attachments) {
    if ('content' in attachment) {
      read.push(attachment)
      continue
    }
    const { contentType, filename, read: readContent } = await attachment.open()
    const chunks: Buffer[] = []
    for await (const chunk of await readContent()) {
      total += chunk.length
      if (total > MAX_ATTACHMENT_BYTES)
        throw invalid(attachment.path, 'makes the attachments larger than 25 MB together')
      chunks.push(chunk)
    }
    read.push({ filename, contentType, contentId: attachment.contentId, content: Buffer.concat(chunks) })
  }
  return read
}
