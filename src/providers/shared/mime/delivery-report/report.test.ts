import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { spentCpuMs } from '../../../../../test/kit/measure/event-loop.ts'
import {
  earlierEximReport,
  exchangeReport,
  eximReport,
  gmailReport,
  postfixReport,
  qmailReport,
} from '../../../../../test/servers/delivery-reports.ts'
import { attachmentMail } from '../../../../../test/servers/messages.ts'
import { WORDED_REPORTS, wordedReport, wordedReportWithAttachment } from '../../../../../test/servers/worded-reports.ts'
import { headerFields, parseHeaders } from '../headers/headers.ts'
import { MAX_REPORT_BYTES, mayBeDeliveryReport, parseDeliveryReport } from './report.ts'

const ABOUT = { email: 'gone@example.com', messageId: '<sent-1@acme.example>' }
const ORIGINAL = { messageId: '<sent-1@acme.example>', sentToken: null, subject: 'Angebot f\u00fcr Sie' }
const UNKNOWN = '550 5.1.1 User unknown'

function isCandidate(raw: Buffer): boolean {
  const headers = parseHeaders(raw.subarray(0, raw.indexOf('\r\n\r\n')))
  return mayBeDeliveryReport(headers, headerFields(headers).from)
}

const REPORTS: [name: string, raw: Buffer, status: string | null, diagnostic: string | null][] = [
  ['Postfix', postfixReport(ABOUT), '5.1.1', '550 5.1.1 <gone> Recipient address rejected: User unknown'],
  ['Exim', eximReport(ABOUT), '5.0.0', UNKNOWN],
  [
    'Exchange',
    exchangeReport(ABOUT),
    '5.1.10',
    '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
  ],
  [
    'Gmail',
    gmailReport(ABOUT),
    '5.1.1',
    '550-5.1.1 The email account that you tried to reach does not exist. Please try 550 5.1.1 double-checking',
  ],
  [
    'qmail',
    qmailReport(ABOUT),
    '5.1.1',
    '192.0.2.1 does not like recipient. Remote host said: 550 5.1.1 User unknown Giving up on 192.0.2.1.',
  ],
]

describe('a delivery report', () => {
  it.each(REPORTS)('of %s is recognised and read', async (_name, raw, status, diagnostic) => {
    expect(isCandidate(raw)).toBe(true)
    const recipients = [{ email: ABOUT.email, status, diagnostic }]
    expect(await parseDeliveryReport(raw)).toEqual({ kind: 'permanent', recipients, original: ORIGINAL })
  })

  it('of an earlier Exim names its recipients in the header', async () => {
    expect(await parseDeliveryReport(earlierEximReport(ABOUT))).toEqual({
      kind: 'permanent',
      recipients: [
        {
          email: ABOUT.email,
          status: '5.1.1',
          diagnostic: `host mx.example.com [192.0.2.1] SMTP error from remote mail server after RCPT TO: ${UNKNOWN}`,
        },
        { email: 'second@example.com', status: null, diagnostic: 'Unrouteable address' },
      ],
      original: ORIGINAL,
    })
  })

  it('is temporary while a mail server tries again, and none when the message arrived', async () => {
    expect(await parseDeliveryReport(postfixReport(ABOUT, 'delayed'))).toMatchObject({
      kind: 'temporary',
      recipients: [{ email: ABOUT.email, status: '4.4.1' }],
    })
    for (const action of ['delivered', 'relayed', 'expanded', '']) {
      const raw = postfixReport(ABOUT, action)
      const text = action === '' ? raw.toString().replace('Status: 4.4.1', 'Status: 2.0.0') : raw.toString()
      expect([action, await parseDeliveryReport(Buffer.from(text))]).toEqual([action, undefined])
    }
  })

  it('names those that failed, when it names others too', async () => {
    const group = (email: string, action: string) => `Final-Recipient: rfc822; ${email}\r\nAction: ${action}\r\n\r\n`
    const raw = postfixReport(ABOUT)
      .toString()
      .replace('Final-Recipient:', `${group('slow@x', 'delayed')}$&`)
    const more = raw.replace('Final-Recipient:', `${group('ok@x', 'delivered')}Final-Recipient:`)
    expect((await parseDeliveryReport(Buffer.from(more)))?.recipients.map(({ email }) => email)).toEqual([ABOUT.email])
  })

  it('names the address that the sender wrote to', async () => {
    const raw = postfixReport(ABOUT)
      .toString()
      .replace('Final-Recipient: rfc822; gone@', 'Final-Recipient: rfc822; other@')
    expect((await parseDeliveryReport(Buffer.from(raw)))?.recipients).toMatchObject([{ email: ABOUT.email }])
  })

  it('may end anywhere, and be wrapped by a mail server', async () => {
    const raw = gmailReport(ABOUT)
    const cut = raw.subarray(0, raw.indexOf('Content-Type: message/rfc822'))
    // Missing values are in the header of the report.
    expect((await parseDeliveryReport(cut))?.original).toEqual({ ...ORIGINAL, subject: null })
    const inner = raw.subarray(raw.indexOf('Content-Type: multipart/report')).toString()
    const head = 'From: postmaster@x\r\nContent-Type: multipart/mixed; boundary=out\r\n\r\n--out\r\n'
    const wrapped = Buffer.from(`${head}${inner}\r\n--out\r\nContent-Type: text/plain\r\n\r\nfooter\r\n--out--\r\n`)
    expect(await parseDeliveryReport(wrapped)).toMatchObject({
      recipients: [{ email: ABOUT.email }],
      original: ORIGINAL,
    })
    for (let length = 0; length < raw.length; length += 7) await parseDeliveryReport(raw.subarray(0, length))
  })

  it.each(WORDED_REPORTS)('in words, of $name, is recognised and read', async (report) => {
    const { status = null, diagnostic, kind = 'permanent', email = ABOUT.email } = report
    const expected = { kind, recipients: [{ email, status, diagnostic }], original: ORIGINAL }
    expect(isCandidate(wordedReport(report))).toBe(true)
    expect(await parseDeliveryReport(wordedReport(report))).toEqual(expected)
    expect(await parseDeliveryReport(wordedReportWithAttachment(report))).toEqual(expected)
  })

  it.each(WORDED_REPORTS)('in words, of $name, is none from a person, nor when a person quotes it', async (report) => {
    const person = { ...report, from: 'Bob <bob@example.com>', headers: ['Return-Path: <bob@example.com>'] }
    const quoted = { ...report, from: 'postmaster@example.com', text: report.text.map((line) => `> ${line}`) }
    for (const raw of [wordedReport(person), wordedReportWithAttachment(person), wordedReport(quoted)]) {
      expect(await parseDeliveryReport(raw)).toBeUndefined()
    }
    expect(isCandidate(wordedReport(person))).toBe(false)
  })

  it.each(['koi8-r', 'windows-1251'])('in words may be in %s', async (charset) => {
    const report = WORDED_REPORTS.find(({ name }) => name.includes('Russia'))
    const raw = report === undefined ? '' : wordedReport(report).toString()
    const cyrillic = raw.replace('charset=utf-8', `charset="${charset}"`).replace(/^ {2}gone@.*/m, '  gone@example.com')
    expect(cyrillic).toContain(charset)
    expect(await parseDeliveryReport(iconv.encode(cyrillic, charset))).toMatchObject({
      recipients: [{ email: ABOUT.email }],
      original: ORIGINAL,
    })
  })

  it('in words needs the sent message, unless a MAILER-DAEMON wrote it', async () => {
    for (const report of WORDED_REPORTS) {
      const isDaemon = /mailer-daemon/i.test(report.from)
      const found = await parseDeliveryReport(wordedReport(report, { quotes: false }))
      expect([report.name, found?.recipients.length]).toEqual([report.name, isDaemon ? 1 : undefined])
    }
  })

  it('in words names every recipient', async () => {
    const [sendmail] = WORDED_REPORTS
    const text = sendmail?.text.flatMap((line) =>
      line === '<gone@example.com>' ? [line, '<away@example.net>'] : [line],
    )
    const raw = wordedReport({ ...(sendmail as (typeof WORDED_REPORTS)[number]), text: text ?? [] })
    expect((await parseDeliveryReport(raw))?.recipients.map(({ email }) => email)).toEqual([
      ABOUT.email,
      'away@example.net',
    ])
  })

  it('is no out-of-office note, whose sender has no return path either', async () => {
    const note =
      'Return-Path: <>\r\nFrom: bob@example.com\r\nSubject: Out of office\r\n\r\nI did not reach the following recipients\r\nx@y\r\n'
    expect(isCandidate(Buffer.from(note))).toBe(false)
    expect(await parseDeliveryReport(Buffer.from(note))).toBeUndefined()
  })

  it('for addresses outside ASCII has its own types', async () => {
    const raw = postfixReport(ABOUT)
      .toString()
      .replace('report-type=delivery-status', 'report-type=global-delivery-status')
      .replace('message/delivery-status', 'message/global-delivery-status')
      .replace('message/rfc822', 'message/global-headers')
    expect(isCandidate(Buffer.from(raw))).toBe(true)
    const expected = { kind: 'permanent', recipients: [{ email: ABOUT.email, status: '5.1.1' }], original: ORIGINAL }
    expect(await parseDeliveryReport(Buffer.from(raw))).toMatchObject(expected)
    const about = async (address: string) => {
      const text = raw
        .replace(/Final-Recipient: .*/, `Final-Recipient: utf-8; ${address}`)
        .replace(/Original-Recipient: .*/, 'X: y')
      return (await parseDeliveryReport(Buffer.from(text)))?.recipients[0]?.email
    }
    expect(await about('用户@例え.jp')).toBe('用户@例え.jp')
    expect(await about('\\x{7528}\\x{6237}@xn--r8jz45g.jp')).toBe('用户@xn--r8jz45g.jp')
    expect(await about('<gr\\x{F6}\\x{DF}e@example.com>')).toBe('größe@example.com')
    expect(await about('a\\x{D800}\\x{110000}\\x{A}b@x')).not.toMatch(/[\n\ud800]/)
  })

  it('is not a receipt, a forwarded report, or what somebody writes', async () => {
    const receipt = postfixReport(ABOUT).toString().replace('delivery-status; b', 'disposition-notification; b')
    const forwarded = attachmentMail({
      attachments: [
        { filename: 'r.eml', contentType: 'message/delivery-status', content: Buffer.from('Action: failed') },
      ],
    })
    const written = Buffer.from(
      'From: eve@x\r\n\r\nHi. This is the qmail-send program.\r\n\r\n<bob@x>:\r\ngone\r\n\r\n--- Below this line is a copy of\r\n',
    )
    for (const raw of [Buffer.from(receipt), forwarded, written, Buffer.alloc(0), Buffer.from('\r\n')]) {
      expect(await parseDeliveryReport(raw)).toBeUndefined()
    }
    expect([forwarded, written].map(isCandidate)).toEqual([false, false])
  })

  it('cleans and bounds what a stranger writes', async () => {
    const hostile = `<b>\u0007${'x'.repeat(2000)}@evil`
    const text = postfixReport(ABOUT)
      .toString()
      .replaceAll(/Recipient: rfc822; ?gone@example.com/g, `Recipient: rfc822; ${hostile}`)
      .replace('Diagnostic-Code: smtp; ', `Diagnostic-Code: smtp; \u0000${'y'.repeat(5000)}`)
      .replace('Status: 5.1.1', 'Status: 999999.1.1 \u2028')
    const many = Array.from(
      { length: 500 },
      (_, n) => `Final-Recipient: rfc822; ${n}@x\r\nAction: failed\r\n\r\n`,
    ).join('')
    const report = await parseDeliveryReport(Buffer.from(text.replace('Final-Recipient:', `${many}Final-Recipient:`)))
    expect(report?.recipients).toHaveLength(50)
    const [recipient] = (await parseDeliveryReport(Buffer.from(text)))?.recipients ?? []
    expect(recipient?.email.length).toBeLessThanOrEqual(320)
    expect(recipient?.diagnostic?.length).toBeLessThanOrEqual(500)
    expect(JSON.stringify(recipient)).not.toMatch(/\\u0000|\\u2028|\\n/)
    expect(recipient?.status).toBeNull()
  })
})

/** The CPU time of the fastest of three runs. */
async function fastestMs(work: () => unknown): Promise<number> {
  const spent: number[] = []
  while (spent.length < 3) spent.push(await spentCpuMs(work))
  return Math.min(...spent)
}

const HEAD =
  'From: mailer-daemon@x\r\nContent-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n'
const STATUS = `${HEAD}--b\r\nContent-Type: message/delivery-status\r\n\r\n`
const WORDED = 'From: mailer-daemon@x\r\n\r\nYour message was not delivered to:\r\n'
const FAILED = 'From: mailer-daemon@x\r\nX-Failed-Recipients: '

describe('256 kB of a message', () => {
  it.each([
    ['boundaries', HEAD, '--b\r\n'],
    ['boundaries within lines', HEAD, '--b-'],
    ['line ends', STATUS, '\n'],
    ['spaces after line ends', STATUS, '\n \t '],
    ['spaces', STATUS, ' '],
    ['recipients', STATUS, 'Final-Recipient: rfc822; a@b\nAction: failed\n\n'],
    ['fields', STATUS, 'Final-Recipient: rfc822; a@b\n'],
    ['dashes', `${FAILED}a@b\r\n\r\n`, '-'],
    ['lines of dashes', `${FAILED}a@b\r\n\r\n`, '-- \n'],
    ['failed recipients', FAILED, 'a@b,'],
    ['fields of failed recipients', FAILED, 'a\r\nX-Failed-Recipients: '],
    ['header lines', '', 'a: b\r\n'],
    ['words', WORDED, 'delivery to delivery failed '],
    ['lines of words', WORDED, 'did not reach the following recipient\n'],
    ['addresses in words', WORDED, 'a@b: '],
    ['lines of addresses', WORDED, 'x@y.example\n'],
    ['lines of labels', WORDED, 'recipient recipient recipient: '],
    ['paragraphs of fields', WORDED, 'a: b\nc: d\ne: f\n\n'],
    ['parts', `${HEAD.replace('report; report-type=delivery-status', 'mixed')}`, '--b\r\n\r\nx\r\n'],
    ['folded lines', 'Content-Type: multipart/report', '\r\n ;'],
    ['parameters', 'Content-Type: multipart/report; ', 'report-type ; '],
    ['qmail paragraphs', 'From: mailer-daemon@x\r\n\r\nHi. This is the qmail\n\n', '<a@b>:\nx\n\n'],
    [
      'encoded lines',
      STATUS.replace('status\r\n\r\n', 'status\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n'),
      '=\n',
    ],
  ])('of %s is parsed at once', async (_what, beginning, piece) => {
    const raw = Buffer.from((beginning + piece.repeat(MAX_REPORT_BYTES / piece.length)).slice(0, MAX_REPORT_BYTES))
    // 10 ms is usual.
    expect(await fastestMs(() => parseDeliveryReport(raw))).toBeLessThan(300)
  })
})
