import type { RemoteAddress } from '../../../contract/index.ts'
import { SENT_TOKEN_HEADER } from '../compose.ts'
import { cleanField, type Header, headerFields, headerValue } from '../headers/headers.ts'
import { readParameters } from '../headers/parameters.ts'
import { isMailSystem } from './mail-system.ts'
import { plainReport } from './plain.ts'
import { decodedBody, type ReportPart, readHeader, readParts } from './report-part.ts'
import { readStatus } from './status.ts'

/** A report that a message was not delivered, or not yet (RFC 3464, RFC 6533, and the texts of older servers). */
export interface DeliveryReport {
  /** The failed recipients; if there are none, the delayed ones. Never empty. */
  recipients: ReportedRecipient[]
  kind: 'permanent' | 'temporary'
  /** References to the message that was sent. */
  original: { messageId: string | null; sentToken: string | null; subject: string | null }
}

export interface ReportedRecipient {
  email: string
  /** Enhanced status code (RFC 3463). */
  status: string | null
  /** The words of the mail server, on one line. */
  diagnostic: string | null
}

/** How much of a message may be read: the report comes first, then a copy of what was sent. */
export const MAX_REPORT_BYTES = 256 * 1024

const MAX_PART_BYTES = 64 * 1024
const MAX_TOKEN = 320
const MAX_SUBJECT = 1000
/** How many parts, with the alternatives inside them, are searched for the text. */
const MAX_INNER_PARTS = 20

const REPORT = 'multipart/report'
const REPORT_TYPES = ['delivery-status', 'global-delivery-status']
const STATUS_TYPES = ['message/delivery-status', 'message/global-delivery-status']
const ORIGINAL_TYPES = [
  'message/rfc822',
  'text/rfc822-headers',
  'message/rfc822-headers',
  'message/global',
  'message/global-headers',
]

/** Whether to read the message, because its header is that of a report. */
export function mayBeDeliveryReport(headers: readonly Header[], from: RemoteAddress | null): boolean {
  if (comesFromSystem(headers, from)) return true
  return headerValue(headers, 'x-failed-recipients') !== undefined || isReport(headers)
}

/** Reports have no return path. Out-of-office notes have none either, so their subjects must be those of a report. */
function comesFromSystem(headers: readonly Header[], from: RemoteAddress | null): boolean {
  if (from !== null && isMailSystem(from.email)) return true
  if (!/^\s*<\s*>/.test(headerValue(headers, 'return-path') ?? '')) return false
  return FAILURE.test(headerFields(headers).subject.slice(0, MAX_SUBJECT))
}

const FAILURE =
  /undeliver|undelivered|not delivered|non-?deliver|delivery (?:status|fail|has failed|problem|error|report|notif)|returned mail|failure notice|mail (?:system|delivery)|returned to sender|unzustellbar|nicht zugestellt|zustellung|non remis|non distribu|no entregad|mancat[ao] (?:consegna|recapito)|n\u00e3o entregue|onbestelbaar|niet bezorgd|\u043d\u0435\u0434\u043e\u0441\u0442\u0430\u0432\u043b\u0435\u043d|\u043d\u0435 \u0434\u043e\u0441\u0442\u0430\u0432\u043b\u0435\u043d|\u914d\u4fe1|\u4e0d\u9054|\u9001\u4fe1\u3067\u304d/i

/** Reports of read messages and of spam complaints have another type. */
function isReport(headers: readonly Header[]): boolean {
  const contentType = headerValue(headers, 'content-type') ?? ''
  // Few messages need the parameters.
  if (!/report/i.test(contentType)) return false
  const { value, parameters } = readParameters(contentType)
  return value === REPORT && REPORT_TYPES.includes((parameters.get('report-type') ?? 'delivery-status').toLowerCase())
}

/** Parses the beginning of a message. Undefined unless it reports a failure or a delay. Takes bounded time for any bytes. */
export async function parseDeliveryReport(raw: Buffer): Promise<DeliveryReport | undefined> {
  const message = await readParts(raw.subarray(0, MAX_REPORT_BYTES))
  const { inReplyTo, from } = headerFields(message.headers)
  const isFromSystem = comesFromSystem(message.headers, from)
  // A forwarded report is an attachment of somebody's message. Mail servers on the way may wrap a real one, too.
  const outer = isFromSystem ? message.children : []
  const report = [message, ...outer].find(({ headers }) => isReport(headers))
  // A report of something else, such as a receipt.
  if (report === undefined && message.type === REPORT) return undefined
  const parts = report === undefined ? withInner(outer) : report.children
  const status = parts.find(({ type }) => STATUS_TYPES.includes(type))
  const attached = parts.find(({ type }) => ORIGINAL_TYPES.includes(type))
  const original = attached === undefined ? [] : readHeader(decodedBody(attached, MAX_PART_BYTES))
  const found =
    status === undefined || report === undefined
      ? plainReport(message, parts, { isFromSystem, hasOriginal: original.length > 0, from: from?.email ?? '' })
      : readStatus(decodedBody(status, MAX_PART_BYTES))
  if (found === undefined) return undefined
  const headers = original.length > 0 ? original : found.original
  const { messageId, subject } = headerFields(headers)
  return {
    recipients: found.recipients,
    kind: found.kind,
    original: {
      messageId: messageId ?? inReplyTo,
      sentToken: headerValue(headers, SENT_TOKEN_HEADER.toLowerCase())?.slice(0, MAX_TOKEN) ?? null,
      subject: subject === '' ? null : cleanField(subject, MAX_SUBJECT),
    },
  }
}

/** The text of a report may be in alternatives. */
function withInner(parts: readonly ReportPart[]): ReportPart[] {
  return parts.flatMap((part) => [part, ...part.children]).slice(0, MAX_INNER_PARTS)
}
