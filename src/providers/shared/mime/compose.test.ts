import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import { fc } from '../../../../test/kit/random/random.ts'
import {
  composeMessage,
  headerFields,
  isOwnHeader,
  newMessageId,
  type OutgoingMessage,
  parseAddress,
  parseHeaders,
} from './index.ts'

const MESSAGE: OutgoingMessage = {
  from: { name: 'Ada Okafor', email: 'ada@acme.example' },
  to: [{ name: '', email: 'bob@example.com' }],
  cc: [],
  bcc: [{ name: '', email: 'hidden@example.com' }],
  replyTo: [],
  subject: 'Hello',
  text: 'Hello Bob',
  html: null,
  attachments: [],
  messageId: newMessageId('1', 'ada@acme.example'),
  inReplyTo: null,
  references: [],
  date: Date.UTC(2026, 10, 20),
  sentToken: null,
  headers: [],
}

async function compose(more: Partial<OutgoingMessage>, options?: { keepBcc: boolean }) {
  const bytes = await composeMessage({ ...MESSAGE, ...more }, options)
  const text = bytes.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  const headers = parseHeaders(bytes.subarray(0, end))
  return { bytes, text, head: text.slice(0, end), headers, fields: headerFields(headers) }
}

const FIELDS = [
  'From',
  'To',
  'Subject',
  'Message-ID',
  'Date',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'Cc',
  'Reply-To',
  'In-Reply-To',
  'References',
  'X-Own',
]

/** More than a message names. */
const LONG_IDS = Array.from({ length: 60 }, (_, n) => `<${'r'.repeat(880)}${n}@x>`)
const empty = Buffer.alloc(0)

describe('a composed message', () => {
  it('has the fields, text and attachments that were given', async () => {
    const { bytes, fields, text } = await compose({
      to: [{ name: 'Großmann, "B"', email: 'bob@xn--gre-6ka8i.example' }],
      cc: [{ name: '王', email: '"a b"@example.com' }],
      replyTo: [{ name: '', email: 'replies@acme.example' }],
      subject: 'Über 100 € für 王さん '.repeat(20).trim(),
      text: 'Grüße\nzwei\r\n.drei',
      html: '<p>Grüße <img src="cid:logo"></p>',
      inReplyTo: '<0@x>',
      references: ['<root@x>', '<0@x>'],
      headers: [{ name: 'X-Own', value: 'größer' }],
      attachments: [
        {
          filename: 'Größe\r\n.pdf',
          contentType: 'application/pdf',
          content: Buffer.from([0, 255, 10]),
          contentId: null,
        },
        { filename: 'logo.png', contentType: 'image/png', content: Buffer.from('png'), contentId: 'logo' },
      ],
    })
    expect(fields).toMatchObject({
      from: { name: 'Ada Okafor', email: 'ada@acme.example' },
      to: [{ name: 'Großmann, "B"', email: 'bob@xn--gre-6ka8i.example' }],
      cc: [{ name: '王', email: '"a b"@example.com' }],
      replyTo: [{ name: '', email: 'replies@acme.example' }],
      subject: 'Über 100 € für 王さん '.repeat(20).trim(),
      messageId: '<1@acme.example>',
      inReplyTo: '<0@x>',
      references: ['<root@x>', '<0@x>'],
      date: MESSAGE.date,
    })
    const parsed = await PostalMime.parse(bytes)
    expect(parsed.text?.trim()).toBe('Grüße\nzwei\n.drei')
    expect(parsed.html?.trim()).toBe('<p>Grüße <img src="cid:logo"></p>')
    const attached = parsed.attachments.map(({ filename, content, ...file }) => ({
      filename,
      content: Buffer.from(content as ArrayBuffer).toString('latin1'),
      disposition: file.disposition,
      contentId: file.contentId ?? null,
    }))
    expect(attached).toHaveLength(2)
    expect(attached).toContainEqual({
      filename: 'Größe .pdf',
      content: '\0\xff\n',
      disposition: 'attachment',
      contentId: null,
    })
    expect(attached).toContainEqual({
      filename: 'logo.png',
      content: 'png',
      disposition: 'inline',
      contentId: '<logo>',
    })
    expect(text).not.toMatch(/[^\r]\n|\r[^\n]/)
  })

  it('names the hidden recipients only when asked to', async () => {
    expect((await compose({})).text).not.toContain('hidden@example.com')
    expect((await compose({}, { keepBcc: true })).fields.bcc).toEqual([{ name: '', email: 'hidden@example.com' }])
  })

  it('writes the words of an HTML body as text', async () => {
    const { bytes } = await compose({ text: null, html: '<style>p{}</style><p>One</p><p>Two &amp; three</p>' })
    expect((await PostalMime.parse(bytes)).text?.trim()).toMatch(/^One\n+Two & three$/)
  })

  it('reads no file and no address of the network for an attachment', async () => {
    const { text } = await compose({ html: '<img src="file:///etc/hostname"><img src="data:image/png;base64,AAAA">' })
    expect(text).not.toContain('Content-Disposition: attachment')
  })

  it('never contains a field, a part or a recipient that the caller did not give', async () => {
    const nasty = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.stringMatching(/^[\r\n\t :;,<>@"\\=?a-zB]{0,60}$/),
      fc.constantFrom('x\r\nBcc: eve@example.com', 'x\n\nbody', '=?UTF-8?Q?=0D=0ABcc:_eve@example.com?=', 'a\u2028b'),
      fc.constantFrom('é'.repeat(5000), 'a'.repeat(5000), 'a '.repeat(2500), '\ud800', '\0', ''),
      fc.constantFrom('Team: eve@example.com;', '"a@b <eve@example.com>"@example.com', 'eve@example.com, x'),
    )
    const address = fc.oneof(
      nasty,
      fc.emailAddress(),
      nasty.map((name) => `${JSON.stringify(name)} <bob@example.com>`),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.record({ subject: nasty, text: nasty, html: nasty, name: nasty, address, value: nasty, file: nasty }),
        async ({ subject, text, html, name, address: recipient, value, file }) => {
          const to = [parseAddress(recipient).address ?? { name, email: 'bob@example.com' }]
          const {
            bytes,
            text: all,
            headers,
            fields,
          } = await compose({
            subject,
            text,
            html,
            to,
            references: [value, '<a@b>', ...LONG_IDS],
            inReplyTo: value,
            from: { name, email: 'ada@acme.example' },
            headers: [
              { name: 'X-Own', value },
              { name: 'Bcc', value: 'eve@example.com' },
              { name: `X-${value}`, value },
            ].filter((header) => header.name === 'X-Own' || !isOwnHeader(header.name) || header.name === 'X-'),
            attachments: [
              { filename: file, contentType: value, content: Buffer.from(text), contentId: file },
              { filename: file, contentType: `text/x; a=${JSON.stringify(value)}`, content: empty, contentId: null },
              { filename: file, contentType: 'message/rfc822', content: Buffer.from(text + html), contentId: null },
            ],
          })
          expect(all).not.toMatch(/[^\r]\n|\r[^\n]/)
          expect(Math.max(...all.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998)
          expect(headers.filter((header) => !FIELDS.includes(header.name))).toEqual([])
          expect(new Set(headers.map((header) => header.name)).size).toBe(headers.length)
          expect(fields.to.map((address) => address.email)).toEqual(to.map((address) => address.email))
          const parsed = await PostalMime.parse(bytes, { forceRfc822Attachments: true })
          expect(parsed.attachments).toHaveLength(3)
          expect(parsed.bcc ?? []).toEqual([])
        },
      ),
      { numRuns: 60 },
    )
  })
})
