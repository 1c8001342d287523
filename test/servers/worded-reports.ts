import { MAIL_SERVER_REPORTS } from './worded-reports/mail-servers.ts'
import { PROVIDER_REPORTS } from './worded-reports/providers.ts'

/** Reports in words, as servers without RFC 3464 wrote them. Our own wording of their forms: only the phrases and the layout are theirs. */

export interface WordedReport {
  name: string
  from: string
  /** Further lines of the header. */
  headers?: string[]
  subject: string
  text: string[]
  email?: string
  status?: string | null
  diagnostic: string | null
  kind?: 'permanent' | 'temporary'
}

/** Each is about `gone@example.com`; `COPY` is replaced by the header of the sent message. */
export const WORDED_REPORTS: readonly WordedReport[] = [...MAIL_SERVER_REPORTS, ...PROVIDER_REPORTS]

const COPY = [
  'Return-Path: <ada@acme.example>',
  'Received: from client by mx.acme.example; Fri, 20 Nov 2026 08:11:08 +0000',
  'From: ada@acme.example',
  'To: gone@example.com',
  'Subject: =?utf-8?Q?Angebot_f=C3=BCr_Sie?=',
  'Message-ID: <sent-1@acme.example>',
  '',
  'Hello Bob',
]

/** The report as text, with the message quoted, or without it. */
export function wordedReport({ from, subject, text, headers = [] }: WordedReport, { quotes = true } = {}): Buffer {
  const body = text.flatMap((line) => (line === 'COPY' ? (quotes ? COPY : []) : [line]))
  return lines([...head(from, subject, headers), 'Content-Type: text/plain; charset=utf-8', '', ...body])
}

/** The report with the message attached, as Sendmail did before RFC 3464. */
export function wordedReportWithAttachment({ from, subject, text, headers = [] }: WordedReport): Buffer {
  const end = text.indexOf('COPY')
  return lines([
    ...head(from, subject, headers),
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="b1"',
    '',
    '--b1',
    'Content-Type: text/plain; charset=utf-8',
    '',
    ...text.slice(0, end),
    '--b1',
    'Content-Type: message/rfc822',
    '',
    ...COPY,
    '--b1--',
  ])
}

function head(from: string, subject: string, headers: readonly string[]): string[] {
  return [
    ...headers,
    `From: ${from}`,
    'To: ada@acme.example',
    `Subject: ${subject}`,
    'Date: Fri, 20 Nov 2026 08:11:09 +0000',
  ]
}

function lines(all: readonly string[]): Buffer {
  return Buffer.from(`${all.join('\r\n')}\r\n`)
}
