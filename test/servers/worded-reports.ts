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

const DAEMON = 'Mail Delivery Subsystem <MAILER-DAEMON@mx.acme.example>'
const POSTMASTER = 'Postmaster <postmaster@mx.acme.example>'

/** Each is about `gone@example.com`; `COPY` is replaced by the header of the sent message. */
export const WORDED_REPORTS: readonly WordedReport[] = [
  {
    name: 'Sendmail 8',
    from: DAEMON,
    subject: 'Returned mail: User unknown',
    text: [
      'The original message was received at Fri, 20 Nov 2026 08:11:09 +0100',
      'from client.acme.example [192.0.2.7]',
      '',
      '   ----- The following addresses had permanent fatal errors -----',
      '<gone@example.com>',
      '',
      '   ----- Transcript of session follows -----',
      '... while talking to mx.example.com.:',
      '>>> RCPT To:<gone@example.com>',
      '<<< 550 5.1.1 <gone@example.com>... User unknown',
      '',
      '   ----- Original message follows -----',
      'COPY',
    ],
    status: '5.1.1',
    diagnostic: '550 5.1.1 <gone@example.com>... User unknown',
  },
  {
    name: 'Sendmail 8.12 with reasons',
    from: DAEMON,
    subject: 'Returned mail: see transcript for details',
    text: [
      '   ----- The following addresses had permanent fatal errors -----',
      '<gone@example.com>',
      '    (reason: 552 5.2.2 Mailbox is over its quota)',
      '    (expanded from: <gone@example.com>)',
      '',
      '   ----- Transcript of session follows -----',
      '552 5.2.2 <gone@example.com>... Quota',
      '',
      '   ----- Message header follows -----',
      'COPY',
    ],
    status: '5.2.2',
    diagnostic: '552 5.2.2 Mailbox is over its quota',
  },
  {
    name: 'Sendmail 5',
    from: DAEMON,
    subject: 'Returned mail: User unknown',
    text: [
      '   ----- Transcript of session follows -----',
      '550 <gone@example.com>... User unknown',
      '',
      '   ----- Unsent message follows -----',
      'COPY',
    ],
    diagnostic: '550 <gone@example.com>... User unknown',
  },
  {
    name: 'Sendmail, a warning',
    from: DAEMON,
    subject: 'Warning: could not send message for past 4 hours',
    text: [
      '    **********************************************',
      '    **      THIS IS A WARNING MESSAGE ONLY      **',
      '    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **',
      '    **********************************************',
      '',
      '   ----- The following addresses had transient non-fatal errors -----',
      '<gone@example.com>',
      '',
      '   ----- Transcript of session follows -----',
      '451 <gone@example.com>... mx.example.com: Name server timeout',
      '',
      '   ----- Message header follows -----',
      'COPY',
    ],
    diagnostic: '451 <gone@example.com>... mx.example.com: Name server timeout',
    kind: 'temporary',
  },
  {
    name: 'AOL',
    from: DAEMON,
    subject: 'Returned mail: User unknown',
    text: [
      'The original message was received at Fri, 20 Nov 2026 08:11:09 -0500 (EST)',
      '',
      '*** ATTENTION ***',
      'Your e-mail is being returned to you because there was a problem with its delivery.',
      '',
      '----- The following addresses had delivery problems -----',
      '<gone@example.com>',
      '',
      '----- Transcript of session follows -----',
      '550 gone@example.com MAILBOX NOT FOUND',
      '',
      'COPY',
    ],
    diagnostic: '550 gone@example.com MAILBOX NOT FOUND',
  },
  {
    name: 'Exchange 5.5',
    from: 'System Administrator <postmaster@mx.acme.example>',
    subject: 'Undeliverable: Angebot',
    text: [
      'Your message',
      '',
      "  To:      'gone@example.com'",
      '  Subject: Angebot',
      '  Sent:    Fri, 20 Nov 2026 08:11:09 -0000',
      '',
      'did not reach the following recipient(s):',
      '',
      'gone@example.com on Fri, 20 Nov 2026 08:11:10 -0000',
      '    The recipient name is not recognized',
      '\tThe MTS-ID of the original message is: c=us;a= ;p=acme;l=MX',
      '    MSEXCH:IMS:ACME:MX 0 (000C05A6) Unknown Recipient',
      '',
      'Original message:',
      'COPY',
    ],
    diagnostic:
      'The recipient name is not recognized The MTS-ID of the original message is: c=us;a= ;p=acme;l=MX MSEXCH:IMS:ACME:MX 0 (000C05A6) Unknown Recipient',
  },
  {
    name: 'Exchange 2000',
    from: POSTMASTER,
    subject: 'Delivery Status Notification (Failure)',
    text: [
      'This is an automatically generated Delivery Status Notification.',
      '',
      'Delivery to the following recipients failed.',
      '',
      '       gone@example.com',
      '',
      '--- Original message ---',
      'COPY',
    ],
    diagnostic: null,
  },
  {
    name: 'Lotus Domino',
    from: 'Postmaster@acme.example',
    subject: 'DELIVERY FAILURE: User gone not listed in Domino Directory',
    text: [
      'Your message',
      '',
      '  Subject: Angebot',
      '',
      'was not delivered to:',
      '',
      '  gone@example.com',
      '',
      'because:',
      '',
      '  User gone (gone@example.com) not listed in Domino Directory',
      '',
      '',
      'Original message:',
      'COPY',
    ],
    diagnostic: 'User gone (gone@example.com) not listed in Domino Directory',
  },
  {
    name: 'GroupWise',
    from: 'Mailer-Daemon@mx.acme.example',
    subject: 'Message status - undeliverable',
    text: [
      'The message that you sent was undeliverable to the following:',
      '\tgone@example.com (user not found)',
      '',
      'Possibly truncated original message follows:',
      '',
      'COPY',
    ],
    diagnostic: 'user not found',
  },
  {
    name: 'Yahoo',
    from: 'MAILER-DAEMON@yahoo.example',
    subject: 'Failure Notice',
    text: [
      'Sorry, we were unable to deliver your message to the following address.',
      '',
      '<gone@example.com>:',
      'Remote host said: 554 delivery error: This user has no account here [0]',
      '',
      '--- Below this line is a copy of the message.',
      'COPY',
    ],
    diagnostic: 'Remote host said: 554 delivery error: This user has no account here [0]',
  },
  {
    name: 'earlier Gmail',
    from: 'Mail Delivery Subsystem <mailer-daemon@gmail.example>',
    subject: 'Delivery Status Notification (Failure)',
    text: [
      'Delivery to the following recipient failed permanently:',
      '',
      '     gone@example.com',
      '',
      'Technical details of permanent failure:',
      'The recipient server did not accept our request.',
      '',
      '----- Original message -----',
      '',
      'COPY',
    ],
    diagnostic: null,
  },
  {
    name: 'Smail',
    from: 'Mailer-Daemon@acme.example (Mail Delivery Subsystem)',
    subject: 'mail failed, returning to sender',
    text: [
      '|------------------------- Message log follows: -------------------------|',
      ' no valid recipients were found for this message',
      '|------------------------- Failed addresses follow: ---------------------|',
      ' <gone@example.com> ... unknown host',
      '|------------------------- Message text follows: ------------------------|',
      'COPY',
    ],
    diagnostic: 'unknown host',
  },
  {
    name: 'MMDF',
    from: 'Memo Service (MMDF) <mmdf@acme.example>',
    subject: 'Failed mail  (msg.aa12345)',
    text: [
      '    Your message could not be delivered to',
      "'gone@example.com (host: example.com) (queue: smtp)' for the following",
      "reason: ' Unknown user'",
      '',
      '    Your message follows:',
      '',
      'COPY',
    ],
    diagnostic: "host: example.com) (queue: smtp)' for the following reason: ' Unknown user'",
  },
  {
    name: 'MDaemon',
    from: 'MDAEMON@acme.example',
    subject: 'Permanent Delivery Failure',
    text: [
      'The attached message had PERMANENT fatal delivery errors.',
      '',
      'The following addresses did NOT receive a copy of your message:',
      '',
      '> gone@example.com',
      '',
      '--- Session Transcript ---',
      '<-- 550 5.1.1 <gone@example.com>, Recipient unknown',
      '--- End Transcript ---',
      '',
      ': Message contains [1] file attachments',
      '',
      'COPY',
    ],
    status: '5.1.1',
    diagnostic: '<-- 550 5.1.1 <gone@example.com>, Recipient unknown',
  },
  {
    name: 'a provider in Germany',
    from: DAEMON,
    subject: 'Mail delivery failed: returning message to sender',
    text: [
      'Diese Nachricht wurde automatisch erzeugt.',
      '',
      'Ihre Nachricht konnte leider nicht zugestellt werden:',
      '',
      'gone@example.com:',
      'SMTP error from remote server: host mx.example.com: 550 5.1.1 Benutzer unbekannt',
      '',
      '--- The header of the original message is following. ---',
      '',
      'COPY',
    ],
    status: '5.1.1',
    diagnostic: 'SMTP error from remote server: host mx.example.com: 550 5.1.1 Benutzer unbekannt',
  },
  {
    name: 'a provider in Russia',
    from: DAEMON,
    subject: 'Недоставленное сообщение',
    text: [
      'Это письмо создано автоматически сервером.',
      '',
      'К сожалению, мы не можем доставить ваше письмо. Письмо не было доставлено:',
      '',
      '  gone@example.com — 550 5.1.1 нет такого пользователя',
      '',
      '--- Исходное письмо. Original message: ---',
      'COPY',
    ],
    status: '5.1.1',
    diagnostic: '— 550 5.1.1 нет такого пользователя',
  },
  {
    name: 'a provider in Japan',
    from: DAEMON,
    subject: '配信不能のお知らせ',
    text: [
      'ご指定の宛先にメールを配信できませんでした。配信できません:',
      '',
      '宛先：gone@example.com',
      '550 5.1.1 User unknown',
      '',
      '----- Original message -----',
      'COPY',
    ],
    status: '5.1.1',
    diagnostic: '550 5.1.1 User unknown',
  },
  {
    name: 'a server whose report has no return path',
    from: 'Mail Gateway <gateway@acme.example>',
    headers: ['Return-Path: <>'],
    subject: 'Undelivered mail',
    text: ['Your message could not be delivered to gone@example.com: the mailbox is full.', '', 'COPY'],
    diagnostic: 'the mailbox is full.',
  },
]

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
