import { type ErrorDetail, invalidFields } from '../../platform/errors/app-error.ts'
import type { UploadedFile } from '../../platform/http/index.ts'
import type { RemoteAddress } from '../../providers/contract/index.ts'
import { isOwnHeader } from '../../providers/shared/mime/index.ts'
import {
  MAX_RECIPIENTS,
  type ParsedAttachment,
  parseAttachments,
  parseRecipient,
  parseRecipients,
  parseSendAt,
} from '../outgoing/index.ts'
import type { SendBody } from './api.ts'

const MAX_HEADERS = 50

/** The fields of a request, parsed. Absent lists are empty. */
export interface ParsedInput {
  from: RemoteAddress | undefined
  to: RemoteAddress[]
  cc: RemoteAddress[]
  bcc: RemoteAddress[]
  replyTo: RemoteAddress[]
  headers: { name: string; value: string }[]
  attachments: ParsedAttachment[]
  sendAt: number | null
}

/** Parses the fields whose form the schema does not check. Throws `validation_failed` with one error per invalid field. */
export function parseInput(body: SendBody, files: readonly UploadedFile[] | undefined, nowMs: number): ParsedInput {
  const errors: ErrorDetail[] = []
  const fail = (path: string, message: string) => void errors.push({ path, message })

  const list = (name: 'to' | 'cc' | 'bcc' | 'replyTo') => parseRecipients(name, body[name] ?? [], errors)

  const fields = Object.entries(body.headers ?? {}).map(([name, value]) => ({ name, value }))
  for (const { name } of fields) {
    if (!isOwnHeader(name)) fail(`body.headers.${name.slice(0, 100)}`, 'is not a header field that a request may set')
  }
  if (fields.length > MAX_HEADERS) fail('body.headers', `must not have more than ${MAX_HEADERS} fields`)
  const names = new Set(fields.map(({ name }) => name.toLowerCase()))
  if (names.size < fields.length) fail('body.headers', 'must not name a field twice')

  const parsed: ParsedInput = {
    from: body.from === undefined ? undefined : parseRecipient('body.from', body.from, errors)[0],
    to: list('to'),
    cc: list('cc'),
    bcc: list('bcc'),
    replyTo: list('replyTo'),
    headers: fields,
    attachments: parseAttachments(body.attachments, files, errors),
    sendAt: parseSendAt(body.sendAt, nowMs, errors),
  }
  if (parsed.to.length + parsed.cc.length + parsed.bcc.length > MAX_RECIPIENTS) {
    fail('body.to', `must not name more than ${MAX_RECIPIENTS} recipients with cc and bcc`)
  }
  if (errors.length > 0) throw invalidFields(errors)
  return parsed
}
