/** Delivery reports as mail servers send them, written after their documentation and RFC 3464. Builders return exact bytes. */

export interface Reported {
  /** The recipient that the message did not reach. */
  email: string
  /** The Message-ID of the sent message, with angle brackets. */
  messageId: string
  /** The sender of the message, who gets the report. */
  to?: string
}

const lines = (all: readonly string[]) => Buffer.from(`${all.join('\r\n')}\r\n`)

/** The header of the message that was sent. */
function sentHeader({ email, messageId, to = 'ada@acme.example' }: Reported): string[] {
  return [`From: ${to}`, `To: ${email}`, 'Subject: =?utf-8?Q?Angebot_f=C3=BCr_Sie?=', `Message-ID: ${messageId}`]
}

function header(
  from: string,
  subject: string,
  { to = 'ada@acme.example' }: Reported,
  more: readonly string[],
): string[] {
  return [
    'Return-Path: <>',
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    `Message-ID: <${crypto.randomUUID()}@mx>`,
    'Date: Fri, 20 Nov 2026 08:11:09 +0000',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    ...more,
  ]
}

function report(text: readonly string[], status: readonly string[], original: readonly string[]): string[] {
  return [
    '',
    'This is a MIME-encapsulated message.',
    '',
    '--b1',
    'Content-Type: text/plain; charset=utf-8',
    '',
    ...text,
    '',
    '--b1',
    'Content-Type: message/delivery-status',
    '',
    ...status,
    '',
    '--b1',
    ...original,
    '',
    '--b1--',
  ]
}

const REPORT = 'Content-Type: multipart/report; report-type=delivery-status; boundary="b1"'

export function postfixReport(about: Reported, action = 'failed'): Buffer {
  const [status, words] =
    action === 'failed'
      ? ['5.1.1', '550 5.1.1 <gone> Recipient address rejected: User unknown']
      : ['4.4.1', 'connect to mx.example.com[192.0.2.1]:25: Connection timed out']
  const from = 'MAILER-DAEMON@mail.acme.example (Mail Delivery System)'
  return lines([
    ...header(from, 'Undelivered Mail Returned to Sender', about, [REPORT]),
    ...report(
      [
        'This is the mail system at host mail.acme.example.',
        '',
        `<${about.email}>: host mx.example.com said: ${words}`,
      ],
      [
        'Reporting-MTA: dns; mail.acme.example',
        'X-Postfix-Queue-ID: 4F1B2',
        'Arrival-Date: Fri, 20 Nov 2026',
        '',
        `Final-Recipient: rfc822; ${about.email}`,
        `Original-Recipient: rfc822;${about.email}`,
        `Action: ${action}`,
        `Status: ${status}`,
        'Remote-MTA: dns; mx.example.com',
        `Diagnostic-Code: smtp; ${words.replace(' ', '\r\n    ')}`,
      ],
      ['Content-Type: message/rfc822', '', ...sentHeader(about), '', 'Hello Bob'],
    ),
  ])
}

export function eximReport(about: Reported): Buffer {
  const from = 'Mail Delivery System <Mailer-Daemon@mx.acme.example>'
  const failed = [`X-Failed-Recipients: ${about.email}`, REPORT]
  return lines([
    ...header(from, 'Mail delivery failed: returning message to sender', about, failed),
    ...report(
      ['A message that you sent could not be delivered.', '', `  ${about.email}`, '    550 5.1.1 User unknown'],
      [
        'Reporting-MTA: dns; mx.acme.example',
        '',
        'Action: failed',
        `Final-Recipient: rfc822;${about.email}`,
        'Status: 5.0.0',
        'Remote-MTA: dns; mx.example.com',
        'Diagnostic-Code: smtp; 550 5.1.1 User unknown',
      ],
      ['Content-Type: message/rfc822', '', 'Return-path: <ada@acme.example>', ...sentHeader(about), '', 'Hello Bob'],
    ),
  ])
}

/** Builds a report as Exim before 4.88 does: text only. */
export function earlierEximReport(about: Reported): Buffer {
  const from = 'Mail Delivery System <Mailer-Daemon@mx.acme.example>'
  const failed = [`X-Failed-Recipients: ${about.email}, second@example.com`]
  return lines([
    ...header(from, 'Mail delivery failed: returning message to sender', about, failed),
    '',
    'This message was created automatically by mail delivery software.',
    '',
    'This is a permanent error. The following address(es) failed:',
    '',
    `  ${about.email}`,
    '    host mx.example.com [192.0.2.1]',
    '    SMTP error from remote mail server after RCPT TO:',
    '    550 5.1.1 User unknown',
    '  second@example.com',
    '    Unrouteable address',
    '',
    '------ This is a copy of the message, including all the headers. ------',
    '',
    'Return-path: <ada@acme.example>',
    ...sentHeader(about),
    '',
    'Hello Bob',
  ])
}

/** Builds a report as Exchange Online does: the fields in base64, and only the header of the message. */
export function exchangeReport(about: Reported): Buffer {
  const from = 'Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@acme.onmicrosoft.com>'
  const status = [
    'Reporting-MTA: dns;AM0.eurprd01.prod.outlook.com',
    'Received-From-MTA: dns;AM0',
    'Arrival-Date: x',
    '',
    `Final-Recipient: rfc822;${about.email}`,
    'Action: failed',
    'Status: 5.1.10',
    'Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
    'X-Display-Name: Bob',
  ]
  const encoded = Buffer.from(status.join('\r\n')).toString('base64')
  return lines([
    ...header(from, 'Undeliverable: Angebot', about, [REPORT, `In-Reply-To: ${about.messageId}`]),
    '',
    '--b1',
    'Content-Type: multipart/alternative; boundary="b2"',
    '',
    '--b2',
    'Content-Type: text/plain',
    '',
    'Delivery has failed to these recipients.',
    '--b2',
    'Content-Type: text/html',
    '',
    '<p>failed</p>',
    '--b2--',
    '--b1',
    'Content-Type: message/delivery-status',
    'Content-Transfer-Encoding: base64',
    '',
    encoded,
    '--b1',
    'Content-Type: text/rfc822-headers',
    '',
    'Received: from AM0',
    ...sentHeader(about),
    '--b1--',
  ])
}

export function gmailReport(about: Reported): Buffer {
  const from = 'Mail Delivery Subsystem <mailer-daemon@googlemail.com>'
  const more = [`X-Failed-Recipients: ${about.email}`, `In-Reply-To: ${about.messageId}`, REPORT]
  return lines([
    ...header(from, 'Delivery Status Notification (Failure)', about, more),
    ...report(
      ['** Address not found **', '', `Your message wasn't delivered to ${about.email}.`],
      [
        'Reporting-MTA: dns; googlemail.com',
        'Arrival-Date: Fri, 20 Nov 2026 00:11:08 -0800 (PST)',
        `X-Original-Message-ID: ${about.messageId}`,
        '',
        `Final-Recipient: rfc822; ${about.email}`,
        'Action: failed',
        'Status: 5.1.1',
        'Remote-MTA: dns; mx.example.com. (192.0.2.1)',
        'Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist.',
        ' Please try 550 5.1.1 double-checking',
        'Last-Attempt-Date: Fri, 20 Nov 2026 00:11:09 -0800 (PST)',
      ],
      ['Content-Type: message/rfc822', '', 'DKIM-Signature: v=1', ...sentHeader(about), '', 'Hello Bob'],
    ),
  ])
}

export function qmailReport(about: Reported): Buffer {
  return lines([
    ...header('MAILER-DAEMON@mx.acme.example', 'failure notice', about, []),
    '',
    'Hi. This is the qmail-send program at mx.acme.example.',
    "I'm afraid I wasn't able to deliver your message.",
    'This is a permanent error; I have given up.',
    '',
    `<${about.email}>:`,
    '192.0.2.1 does not like recipient.',
    'Remote host said: 550 5.1.1 User unknown',
    'Giving up on 192.0.2.1.',
    '',
    '--- Below this line is a copy of the message.',
    '',
    'Return-Path: <ada@acme.example>',
    ...sentHeader(about),
    '',
    'Hello Bob',
  ])
}
