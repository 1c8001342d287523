/** Messages of one thread each, by what their ids are like: the header fields of each message besides Subject and Date. */
export const THREADS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'nothing between two ids': [
    ['Message-ID: <tns1@x.example.com>'],
    ['Message-ID: <tns2@x.example.com>', 'In-Reply-To: <tns1@x.example.com>', 'References: <tns1@x.example.com>'],
    ['Message-ID: <tns3@x.example.com>', 'References: <tns1@x.example.com><tns2@x.example.com>'],
  ],
  'an id without brackets': [
    ['Message-ID: tnb1@x.example.com'],
    ['Message-ID: <tnb2@x.example.com>', 'In-Reply-To: <tnb1@x.example.com>', 'References: <tnb1@x.example.com>'],
  ],
  'a fold within an id': [
    ['Message-ID: <tf1-very-long-identifier@x.example.com>'],
    [
      'Message-ID: <tf2@x.example.com>',
      'In-Reply-To: <tf1-very-long-\r\n identifier@x.example.com>',
      'References: <tf1-very-long-\r\n identifier@x.example.com>',
    ],
  ],
  'two fields of references': [
    ['Message-ID: <t21@x.example.com>'],
    ['Message-ID: <t22@x.example.com>', 'References: <other@x.example.com>', 'References: <t21@x.example.com>'],
  ],
  'three hundred references': [
    ['Message-ID: <tl0@x.example.com>'],
    [
      'Message-ID: <tlz@x.example.com>',
      `References: ${Array.from({ length: 300 }, (_, index) => `<tl${index}@x.example.com>`).join('\r\n ')}`,
    ],
  ],
  'an encoded id': [
    ['Message-ID: <te1@x.example.com>'],
    [
      'Message-ID: <te2@x.example.com>',
      'In-Reply-To: =?us-ascii?Q?=3Cte1=40x=2Eexample=2Ecom=3E?=',
      'References: =?us-ascii?Q?=3Cte1=40x=2Eexample=2Ecom=3E?=',
    ],
  ],
  'comments between ids': [
    ['Message-ID: <tc1@x.example.com> (made by a program)'],
    ['Message-ID: <tc2@x.example.com>', 'References: (see also) <tc0@x.example.com> (and) <tc1@x.example.com>'],
  ],
}

export function threadSubject(name: string): string {
  return `thread with ${name}`
}

/** The messages of a thread, in order. */
export function threadMessages(name: string, fields: readonly (readonly string[])[]): Buffer[] {
  return fields.map((own) =>
    Buffer.from(
      [
        'From: Sender <sender@example.com>',
        'To: box@example.com',
        `Subject: ${threadSubject(name)}`,
        'Date: Fri, 20 Nov 2026 10:00:00 +0000',
        ...own,
        '',
        'x',
        '',
      ].join('\r\n'),
    ),
  )
}
