/** Raw messages as they occur in practice. Builders return exact bytes, so that malformed ones stay malformed. */

export interface MailFields {
  from?: string
  to?: string
  subject?: string
  messageId?: string
  date?: string
  /** More header lines, without line ends. */
  headers?: string[]
  text?: string
}

const CRLF = '\r\n'
const eightBit = ['Content-Transfer-Encoding: 8bit']

export function plainMail(fields: MailFields = {}): Buffer {
  const text = fields.text ?? 'Hello,\r\n\r\nthis is a plain mail.\r\n'
  return lines([...commonHeaders(fields), 'Content-Type: text/plain; charset=utf-8', ...eightBit, '', text])
}

export function htmlMail(fields: MailFields & { html?: string } = {}): Buffer {
  const html =
    fields.html ??
    '<html><head><style>p{color:red}</style></head><body><p>Hello <b>Größe</b> &amp; co</p></body></html>'
  return lines([...commonHeaders(fields), 'Content-Type: text/html; charset=utf-8', ...eightBit, '', html])
}

/** multipart/alternative with text and html. */
export function alternativeMail(fields: MailFields & { html?: string } = {}): Buffer {
  return lines([
    ...commonHeaders(fields),
    'Content-Type: multipart/alternative; boundary="alt"',
    '',
    ...part('alt', 'text/plain; charset=utf-8', fields.text ?? 'The text part.'),
    ...part('alt', 'text/html; charset=utf-8', fields.html ?? '<p>The <b>html</b> part.</p>'),
    '--alt--',
  ])
}

export interface Attached {
  filename: string
  contentType: string
  content: Buffer
  inline?: boolean
  contentId?: string
}

/** multipart/mixed: one text part, then the attachments in base64. */
export function attachmentMail(fields: MailFields & { attachments?: Attached[] } = {}): Buffer {
  const attachments = fields.attachments ?? [
    { filename: 'report.pdf', contentType: 'application/pdf', content: Buffer.from('%PDF-1.4 not really') },
  ]
  return lines([
    ...commonHeaders(fields),
    'Content-Type: multipart/mixed; boundary="mix"',
    '',
    ...part('mix', 'text/plain; charset=utf-8', fields.text ?? 'See the attachment.'),
    ...attachments.flatMap((attached) => [
      '--mix',
      `Content-Type: ${attached.contentType}`,
      `Content-Disposition: ${attached.inline ? 'inline' : 'attachment'}; filename="${attached.filename}"`,
      ...(attached.contentId ? [`Content-ID: <${attached.contentId}>`] : []),
      'Content-Transfer-Encoding: base64',
      '',
      base64Lines(attached.content),
    ]),
    '--mix--',
  ])
}

/** A message of about `sizeBytes` with one large attachment. */
export function hugeMail(sizeBytes = 30 * 1024 * 1024, fields: MailFields = {}): Buffer {
  const content = Buffer.alloc(Math.floor((sizeBytes * 3) / 4.11))
  for (let i = 0; i < content.length; i += 4096) content.writeUInt32LE(i, i)
  return attachmentMail({
    subject: 'a large one',
    ...fields,
    attachments: [{ filename: 'large.bin', contentType: 'application/octet-stream', content }],
  })
}

/** Malformed messages that old mailboxes contain, by their defect. */
export const malformedMessages: Record<string, Buffer> = {
  'no Date, Message-ID or From': lines(['Subject: bare', '', 'only a subject']),
  'no header at all': Buffer.from('\r\njust a body\r\n'),
  'nothing at all': Buffer.from('\r\n'),
  'eight-bit UTF-8 headers': Buffer.from(
    'From: Jörg Größe <joerg@example.test>\r\nTo: x@example.test\r\nSubject: Grüße aus 東京\r\nMessage-ID: <8bit-utf8@example.test>\r\n\r\ntext\r\n',
  ),
  'eight-bit Latin-1 headers': Buffer.from(
    'From: J\xf6rg <joerg@example.test>\r\nSubject: Gr\xfc\xdfe\r\nMessage-ID: <8bit-latin1@example.test>\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nGr\xfc\xdfe\r\n',
    'latin1',
  ),
  'NUL bytes': Buffer.from(
    'From: a@example.test\r\nSubject: nul \0 inside\r\nMessage-ID: <nul@example.test>\r\n\r\nbody \0 nul\r\n',
  ),
  'a 10 kB Message-ID': plainMail({ subject: 'long id', messageId: `<${'m'.repeat(10_000)}@example.test>` }),
  'a subject of 100 kB': plainMail({ subject: 'long '.repeat(20_000).trim(), messageId: '<longsubject@example.test>' }),
  'an invalid date': plainMail({
    subject: 'odd date',
    date: 'yesterday, at noon',
    messageId: '<odddate@example.test>',
  }),
  'a multipart without an end': lines([
    ...commonHeaders({ subject: 'cut off', messageId: '<cut@example.test>' }),
    'Content-Type: multipart/mixed; boundary="never"',
    '',
    '--never',
    'Content-Type: text/plain',
    '',
    'cut off he',
  ]),
  'a multipart without a boundary': lines([
    ...commonHeaders({ subject: 'boundless', messageId: '<boundless@example.test>' }),
    'Content-Type: multipart/mixed',
    '',
    'nobody can split this',
  ]),
  'an unknown charset and transfer encoding': lines([
    ...commonHeaders({ subject: '=?x-klingon?B?cWFwbGE=?= and =?utf-8?Q?broken', messageId: '<klingon@example.test>' }),
    'Content-Type: text/plain; charset=x-klingon',
    'Content-Transfer-Encoding: telepathy',
    '',
    "qapla'",
  ]),
  'encoded words split inside a character': lines([
    ...commonHeaders({ messageId: '<split@example.test>', subject: '=?utf-8?B?5p2x5Lq?=\r\n =?utf-8?B?s?=' }),
    '',
    'text',
  ]),
  'an unreadable From': plainMail({
    from: ';;<<>> nobody at nowhere,,',
    subject: 'from',
    messageId: '<from@example.test>',
  }),
  'a group and a thousand recipients': plainMail({
    subject: 'many',
    messageId: '<many@example.test>',
    to: `Friends: ann@example.test, "Ben, Jr." <ben@example.test>;, ${Array.from({ length: 1000 }, (_, i) => `p${i}@example.test`).join(',\r\n ')}`,
  }),
  'a part nested 200 deep': deepMail(200),
  'a lone surrogate in an encoded word': plainMail({
    subject: '=?utf-16be?B?2AAAQQ==?=',
    messageId: '<surrogate@example.test>',
  }),
}

/** multipart inside multipart, `depth` times. */
export function deepMail(depth: number): Buffer {
  const opening = Array.from({ length: depth }, (_, i) => [
    ...(i === 0 ? [] : [`--b${i - 1}`]),
    `Content-Type: multipart/mixed; boundary="b${i}"`,
    '',
  ]).flat()
  const closing = Array.from({ length: depth }, (_, i) => `--b${depth - 1 - i}--`)
  return lines([
    ...commonHeaders({ subject: `${depth} deep`, messageId: `<deep${depth}@example.test>` }),
    ...opening,
    ...part(`b${depth - 1}`, 'text/plain', 'at the bottom'),
    ...closing,
  ])
}

function commonHeaders(fields: MailFields): string[] {
  return [
    `From: ${fields.from ?? 'Sender <sender@example.test>'}`,
    `To: ${fields.to ?? 'Receiver <receiver@example.test>'}`,
    `Subject: ${fields.subject ?? 'A mail'}`,
    `Date: ${fields.date ?? 'Thu, 01 Oct 2026 10:00:00 +0200'}`,
    ...(fields.messageId === '' ? [] : [`Message-ID: ${fields.messageId ?? `<${crypto.randomUUID()}@example.test>`}`]),
    'MIME-Version: 1.0',
    ...(fields.headers ?? []),
  ]
}

function part(boundary: string, contentType: string, body: string): string[] {
  return [`--${boundary}`, `Content-Type: ${contentType}`, ...eightBit, '', body]
}

function base64Lines(content: Buffer): string {
  return content.toString('base64').replace(/.{76}/g, `$&${CRLF}`)
}

function lines(all: string[]): Buffer {
  return Buffer.from(`${all.join(CRLF)}${CRLF}`)
}
