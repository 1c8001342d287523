import { type ErrorDetail, invalidFields } from '../../lib/errors.ts'
import type { RemoteAddress } from '../../providers/contract/index.ts'
import { isOwnHeader, type OutgoingAttachment } from '../../providers/mime/index.ts'
import {
  MAX_ATTACHMENT_BYTES,
  MAX_RECIPIENTS,
  parseRecipient,
  parseRecipients,
  parseSendAt,
} from '../messages/index.ts'
import type { SendBody } from './api.ts'

const MAX_HEADERS = 50
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** The fields of a request, parsed. Absent lists are empty. */
export interface ParsedInput {
  from: RemoteAddress | undefined
  to: RemoteAddress[]
  cc: RemoteAddress[]
  bcc: RemoteAddress[]
  replyTo: RemoteAddress[]
  headers: { name: string; value: string }[]
  attachments: OutgoingAttachment[]
  /** Attachments of stored messages, still to be read. */
  references: { path: string; messageId: string; attachmentId: string; contentId: string | null }[]
  sendAt: number | null
}

/** Parses the fields whose form the schema does not check. Throws `validation_failed` with one error per invalid field. */
export function parseInput(body: SendBody, nowMs: number): ParsedInput {
  const errors: ErrorDetail[] = []
  const fail = (path: string, message: string) => void errors.push({ path, message })

  const list = (name: 'to' | 'cc' | 'bcc' | 'replyTo') => parseRecipients(name, body[name] ?? [], errors)

  function attachment(given: NonNullable<SendBody['attachments']>[number], index: number): OutgoingAttachment[] {
    const path = `body.attachments.${index}`
    if (given.content === undefined) return []
    if (!given.filename) fail(`${path}.filename`, 'is required')
    const base64 = given.content.replace(/\s+/g, '')
    if (!BASE64.test(base64)) fail(`${path}.content`, 'must be base64')
    const { filename = '', contentType = 'application/octet-stream', contentId = null } = given
    return [{ filename, contentType, content: Buffer.from(base64, 'base64'), contentId }]
  }

  function reference(given: NonNullable<SendBody['attachments']>[number], index: number) {
    const path = `body.attachments.${index}`
    const { content, messageId, attachmentId, contentId = null } = given
    if (content !== undefined) return []
    if (messageId !== undefined && attachmentId !== undefined) return [{ path, messageId, attachmentId, contentId }]
    fail(path, 'must have content, or messageId and attachmentId')
    return []
  }

  const fields = Object.entries(body.headers ?? {}).map(([name, value]) => ({ name, value }))
  for (const { name } of fields) {
    if (!isOwnHeader(name)) fail(`body.headers.${name.slice(0, 100)}`, 'is not a header field that a request may set')
  }
  if (fields.length > MAX_HEADERS) fail('body.headers', `must not have more than ${MAX_HEADERS} fields`)
  const names = new Set(fields.map(({ name }) => name.toLowerCase()))
  if (names.size < fields.length) fail('body.headers', 'must not name a field twice')

  const attachments = (body.attachments ?? []).flatMap(attachment)
  const total = attachments.reduce((sum, { content }) => sum + content.length, 0)
  if (total > MAX_ATTACHMENT_BYTES) fail('body.attachments', 'must not be larger than 25 MB together')

  const parsed: ParsedInput = {
    from: body.from === undefined ? undefined : parseRecipient('body.from', body.from, errors)[0],
    ...{ to: list('to'), cc: list('cc'), bcc: list('bcc'), replyTo: list('replyTo') },
    ...{ headers: fields, attachments, references: (body.attachments ?? []).flatMap(reference) },
    sendAt: parseSendAt(body.sendAt, nowMs, errors),
  }
  if (parsed.to.length + parsed.cc.length + parsed.bcc.length > MAX_RECIPIENTS) {
    fail('body.to', `must not name more than ${MAX_RECIPIENTS} recipients with cc and bcc`)
  }
  if (errors.length > 0) throw invalidFields(errors)
  return parsed
}
