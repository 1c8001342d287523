import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import type { DraftChange } from '../../../contract/index.ts'
import { editDraft } from './edit-draft.ts'

const ALWAYS = { messageId: '<new@x>', date: Date.UTC(2026, 10, 21) }
const HEAD = [
  'From: Dra Fter <d@acme.example>',
  'TO: first@example.com,',
  '\tsecond@example.com',
  'X-Priority: 1 (Highest)',
  'Subject: before',
  'subject: a repeat',
  'Date: Fri, 20 Nov 2026 10:00:00 +0100',
  'Message-ID: <one@x>',
  'References: <r1@x><r2@x>',
  'Disposition-Notification-To: Dra <d@acme.example>',
  'List-Unsubscribe: <mailto:u@x>,',
  '  <https://x.example/u>',
  'X-Odd: \xfc\xe4 8-bit',
  'MIME-Version: 1.0',
]

function message(...lines: string[]): Buffer {
  return Buffer.from([...HEAD, ...lines, ''].join('\r\n'), 'latin1')
}

function change(source: Buffer, named: Partial<DraftChange>): Promise<string> {
  return editDraft(source, { ...ALWAYS, ...named }, { addsMessageId: false }).then((bytes) => bytes.toString('latin1'))
}

const DATE = 'Fri, 20 Nov 2026 10:00:00 +0100'
const NEW_DATE = 'Sat, 21 Nov 2026 00:00:00 +0000'
const MIXED = 'Content-Type: multipart/mixed; boundary=b'
const ALTERNATIVE = 'Content-Type: multipart/alternative; boundary=b'
const FILE = { filename: 'n.txt', contentType: 'text/plain', content: Buffer.from('new'), contentId: null }
const lines = (...all: (string | string[])[]) => all.flat().join('\r\n')
const rest = (text: string, mark: string) => text.slice(text.indexOf(mark) + mark.length)
const part = (name: string, fields: string[], ...body: string[]) => [`--${name}`, ...fields, '', ...body]
const IMAGE = ['Content-Type: IMAGE/png; name="l.png"', 'content-id:  <logo@x>', 'Content-Transfer-Encoding: base64']
const PDF = ["Content-Type: application/pdf;\r\n name*0*=UTF-8''%e2%82%ac;\r\n name*1=.pdf", 'X-Own: kept']
const HTML = 'Content-Type: text/html; charset=utf-8'
const RICH = message(
  'Content-Type: multipart/mixed; boundary=mix',
  '',
  'preamble',
  ...part('mix', ['Content-Type: multipart/alternative; boundary="a l t"']),
  ...part('a l t', ['Content-Type: text/plain; charset=ks_c_5601-1987'], '\xc7\xd1\xb1\xdb'),
  ...part('a l t', ['Content-Type: multipart/related; boundary=rel; type="text/html"']),
  ...part('rel', [HTML], '<p>old <img src="cid:logo@x"></p>'),
  ...part('rel', IMAGE, 'aW1n'),
  '--rel--',
  '--a l t--',
  ...part('mix', PDF, '%PDF \x80\xff'),
  ...part('mix', ['Content-Type: text/calendar; method=REQUEST'], 'BEGIN:VCALENDAR'),
  '--mix--',
  'epilogue',
)

describe('an edited draft', () => {
  it('has the header fields that the change names, in place of the earlier ones, and all others as they were', async () => {
    const edited = await change(RICH, {
      subject: 'Über',
      to: [{ name: 'Bob', email: 'b@example.com' }],
      cc: [],
      bcc: [],
    })
    const [, body = ''] = RICH.toString('latin1').split('\r\n\r\npreamble')
    const head = HEAD.join('\r\n')
      .replace('TO: first@example.com,\r\n\tsecond@example.com', 'To: Bob <b@example.com>')
      .replace('Subject: before\r\nsubject: a repeat', 'Subject: =?UTF-8?B?w5xiZXI=?=')
      .replace(DATE, NEW_DATE)
    expect(edited).toBe(`${head}\r\nContent-Type: multipart/mixed; boundary=mix\r\n\r\npreamble${body}`)
  })

  it('has another text in place of the body only', async () => {
    const edited = await change(RICH, { body: { text: null, html: '<p>new <img src="cid:logo@x"></p>' } })
    const expected = RICH.toString('latin1')
      .replace(DATE, NEW_DATE)
      .replace(
        'Content-Type: text/plain; charset=ks_c_5601-1987\r\n\r\n\xc7\xd1\xb1\xdb',
        'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\nnew',
      )
      .replace(
        `${HTML}\r\n\r\n<p>old`,
        'Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n<p>new',
      )
    expect(edited).toBe(expected)
  })

  it('has a plain text in place of HTML, with the images that the HTML showed', async () => {
    const edited = await change(RICH, { body: { text: 'plain', html: null } })
    const mixed = part('mix', ['Content-Type: multipart/mixed; boundary=rel; type="text/html"'])
    const text = ['Content-Transfer-Encoding: 7bit', 'Content-Type: text/plain; charset=utf-8']
    expect(edited).toContain(
      lines(mixed, part('rel', text, 'plain'), '', part('rel', IMAGE, 'aW1n'), '--rel--', '--mix'),
    )
    expect(edited).not.toContain('a l t')
    expect(rest(edited, '--rel--')).toBe(rest(RICH.toString('latin1'), '--a l t--'))
  })

  it('has other attachments, and the body with its images as it was', async () => {
    const edited = await change(RICH, { attachments: [FILE] })
    const before = RICH.toString('latin1').replace(DATE, NEW_DATE)
    const [kept = ''] = before.split(PDF.join('\r\n'))
    expect(edited.startsWith(kept)).toBe(true)
    expect(edited.slice(kept.length)).toMatch(
      /^Content-Type: text\/plain; name=n.txt[\s\S]*\r\nbmV3\r\n--mix--\r\nepilogue\r\n$/,
    )
  })

  it('shows an attachment with a Content-ID beside the HTML, in place of the one that has it', async () => {
    const shown = { ...FILE, filename: 'l.gif', contentType: 'image/gif', contentId: 'logo@x' }
    const edited = await change(RICH, { attachments: [shown] })
    expect(edited).toMatch(
      /--rel\r\nContent-Type: image\/gif; name=l.gif\r\nContent-ID: <logo@x>[\s\S]*--rel--\r\n--a l t--/,
    )
    expect(edited).not.toContain('aW1n')
    const plain = message('Content-Type: text/html', 'Content-Transfer-Encoding: 8bit', '', '<p>\xfc')
    const parsed = await PostalMime.parse(Buffer.from(await change(plain, { attachments: [shown, FILE] }), 'latin1'))
    expect(parsed.attachments.map(({ filename, related }) => [filename, related])).toEqual([
      ['l.gif', true],
      ['n.txt', undefined],
    ])
  })

  const TEXT = 'Content-Type: text/plain; charset=utf-8'
  const CALENDAR = part('b', ['Content-Type: text/calendar; method=REQUEST; charset=utf-8'], 'BEGIN:VCALENDAR')
  const LATER = part('b', [TEXT], 'later')
  const SIGNATURE = part('b', ['Content-Type: application/pgp-signature'], 'SIGNATURE')
  /** By what they are: a message, the bytes that stay, and the texts that a body does not. */
  const bodies: Record<string, { source: Buffer; stays?: string[]; leaves?: string[] }> = {
    'a single text': { source: message(TEXT, '', 'old'), leaves: ['old'] },
    'a single HTML': { source: message(HTML, 'Content-Transfer-Encoding: base64', '', 'b2xk'), leaves: ['b2xk'] },
    'a text without content fields': { source: message('', 'old'), leaves: ['old'] },
    'no content at all': { source: Buffer.from(HEAD.join('\r\n'), 'latin1') },
    'an empty message': { source: Buffer.alloc(0) },
    'only an attachment': { source: message(...PDF, '', '%PDF'), stays: [PDF[0] ?? '', '%PDF'] },
    'attachments without a text': {
      source: message(MIXED, '', ...part('b', PDF, '%PDF'), ...part('b', IMAGE, 'aW1n'), '--b--'),
      stays: [lines(part('b', PDF, '%PDF'), part('b', IMAGE, 'aW1n'))],
    },
    'a text with a name': {
      source: message(MIXED, '', ...part('b', IMAGE, 'aW1n'), ...part('b', [`${TEXT}; name=a.txt`], 'old'), '--b--'),
      stays: [lines(part('b', IMAGE, 'aW1n'))],
      leaves: ['old'],
    },
    'an image between two texts': {
      source: message(MIXED, '', ...part('b', [HTML], 'old'), ...part('b', IMAGE, 'aW1n'), ...LATER, '--b--'),
      stays: [lines(part('b', IMAGE, 'aW1n'))],
      leaves: ['old', 'later'],
    },
    'a text and its HTML': {
      source: message(ALTERNATIVE, '', ...part('b', [TEXT], 'old'), ...part('b', [HTML], 'later'), '--b--'),
      leaves: ['old', 'later'],
    },
    'an invitation': {
      source: message(ALTERNATIVE, '', ...part('b', [TEXT], 'old'), ...CALENDAR, '--b--'),
      stays: [lines(CALENDAR)],
      leaves: ['old'],
    },
    'another rendering': {
      source: message(ALTERNATIVE, '', ...LATER, ...part('b', ['Content-Type: text/x-amp-html'], 'AMP'), '--b--'),
      leaves: ['later', 'AMP'],
    },
    'an image before its HTML': {
      source: message(
        'Content-Type: multipart/related; boundary=b; start="<root>"',
        '',
        ...part('b', IMAGE, 'aW1n'),
        ...part('b', [HTML, 'Content-ID: <root>'], 'old'),
        '--b--',
      ),
      stays: [lines(part('b', IMAGE, 'aW1n')), 'Content-ID: <root>'],
      leaves: ['old'],
    },
    'a signed text': {
      source: message('Content-Type: multipart/signed; boundary=b', '', ...LATER, ...SIGNATURE, '--b--'),
      leaves: ['later', 'SIGNATURE'],
    },
    'a text that is encrypted': {
      source: message('Content-Type: multipart/encrypted; boundary=b', '', ...part('b', PDF, 'SECRET'), '--b--'),
      leaves: ['SECRET'],
    },
    'a message that was cut off': {
      source: message(MIXED, '', ...part('b', [TEXT], 'old'), '--b', ...PDF),
      stays: [lines(PDF)],
      leaves: ['old'],
    },
    'line feeds only': {
      source: Buffer.from(
        message(MIXED, '', ...LATER, ...part('b', PDF, '%PDF'), '--b--')
          .toString()
          .replaceAll('\r', ''),
      ),
      stays: [lines(PDF, '', '%PDF').replaceAll('\r', '')],
      leaves: ['later'],
    },
  }
  it.each(Object.entries(bodies))('replaces the body of %s', async (_, { source, stays = [], leaves = [] }) => {
    for (const html of [null, '<p>new <b>HTML</b></p>']) {
      const edited = await change(source, { body: { text: html === null ? 'new text' : null, html } })
      const parsed = await PostalMime.parse(Buffer.from(edited, 'latin1'), { forceRfc822Attachments: true })
      expect([parsed.text?.trim(), parsed.html?.trim()]).toEqual(
        html === null ? ['new text', undefined] : ['new HTML', html],
      )
      for (const kept of stays) expect(edited).toContain(kept)
      for (const gone of leaves) expect(edited).not.toContain(gone)
    }
  })

  it('takes a text with a name beside the text for a file', async () => {
    const file = part('b', [`${TEXT}; name=a.txt`], 'file')
    const source = message(MIXED, '', ...part('b', [TEXT], 'old'), ...file, '--b--')
    const edited = await change(source, { body: { text: 'new', html: null } })
    expect(edited).toContain(lines('new', '', file, '--b--'))
    expect(await change(source, { attachments: [] })).not.toContain('file')
    const fileFirst = message(MIXED, '', ...file, ...part('b', [TEXT], 'old'), '--b--')
    const changed = await change(fileFirst, { body: { text: 'new', html: null } })
    expect(changed).toContain(lines(file))
    expect(changed).not.toContain('old')
  })

  it('describes the new content of a draft, not the earlier one', async () => {
    const source = Buffer.from('Content-Length: 3\r\nSubject: x\r\nLines: 1\r\n\r\nold')
    const edited = await change(source, { body: { text: null, html: 'new' } })
    expect(edited).toMatch(
      /^Subject: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart\/alternative;\r\n boundary=.*\r\nDate: /,
    )
    expect(edited).not.toMatch(/Content-Length|Lines/)
  })

  it('reads parts as programs write them by mistake', async () => {
    const withoutGap = message(MIXED, '', ...part('b', [TEXT], 'old'), '--b', ...PDF, '--b--')
    const edited = await change(withoutGap, { body: { text: 'new', html: null } })
    expect(edited.split('--b--')).toHaveLength(2)
    const cutOff = message(MIXED, '', ...part('b', PDF, '%PDF'), '--b').subarray(0, -2)
    expect(await change(cutOff, { body: { text: 'new', html: null } })).toMatch(/new[\s\S]*%PDF\r\n--b--/)
  })

  it('chooses boundaries that its text and its attachments do not contain', async () => {
    const forwarded = { ...FILE, filename: 'm.eml', contentType: 'message/rfc822', content: RICH }
    const edited = await change(RICH, { body: { text: '--mix\n--mix--\n--rel', html: null }, attachments: [forwarded] })
    const parsed = await PostalMime.parse(Buffer.from(edited, 'latin1'), { forceRfc822Attachments: true })
    expect(parsed.text?.trim()).toBe('--mix\n--mix--\n--rel')
    const [attached] = parsed.attachments
    expect(parsed.attachments).toHaveLength(1)
    const content = Buffer.from(attached?.content as ArrayBuffer).toString('latin1')
    // postal-mime writes line feeds.
    expect(content.trim()).toBe(RICH.toString('latin1').replaceAll('\r', '').trim())
    expect(edited).toContain('preamble')

    const short = message('Content-Type: multipart/mixed; boundary=b; x=bob', '', ...part('b', [TEXT], 'old'), '--b--')
    const dashed = await change(short, { body: { text: '--b', html: null } })
    expect((await PostalMime.parse(dashed)).text?.trim()).toBe('--b')
    expect(dashed).toMatch(/Content-Type: multipart\/mixed; boundary="=_[\w.-]+"; x=bob\r\n/)

    const inPieces = "Content-Type: multipart/mixed; boundary*0*=us-ascii''%2D%2D; boundary*1=b; x=y"
    const source = message(inPieces, '', '----b', TEXT, '', 'old', '----b', ...PDF, '', '%PDF', '----b--')
    const dashes = await change(source, { body: { text: 'a\n----b', html: null } })
    expect((await PostalMime.parse(Buffer.from(dashes, 'latin1'))).text?.trim()).toBe('a\n----b')
    expect(dashes).toContain(lines(PDF, '', '%PDF'))
    expect(dashes).toMatch(/Content-Type: multipart\/mixed; x="y"; boundary="=_/)
  })

  it('refuses to change what it cannot read, and changes its header fields', async () => {
    const unreadable = message('Content-Type: multipart/mixed', '', 'no boundary')
    const encrypted = message('Content-Type: multipart/encrypted; boundary=b', '', ...part('b', PDF, 'SECRET'), '--b--')
    const error = { name: 'ProviderError', kind: 'rejected', unsupported: true }
    await expect(change(unreadable, { body: { text: 'new', html: null } })).rejects.toMatchObject(error)
    await expect(change(encrypted, { attachments: [] })).rejects.toMatchObject(error)
    for (const source of [unreadable, encrypted]) {
      expect(rest(await change(source, { subject: 'new' }), '\r\n\r\n')).toBe(
        rest(source.toString('latin1'), '\r\n\r\n'),
      )
    }
    const manyFields = Buffer.from('a:\r\n'.repeat(60_000))
    await expect(change(manyFields, { subject: 'new' })).rejects.toMatchObject(error)
  })

  it('adds and removes fields where a draft has other ones', async () => {
    const bare = Buffer.from('X-Own: kept\n\nbody\n')
    const named = { ...ALWAYS, subject: 'new', to: [{ name: '', email: 'b@example.com' }] }
    const edited = await editDraft(bare, named, { addsMessageId: true })
    expect(edited.toString()).toBe(
      `X-Own: kept\nDate: ${NEW_DATE}\nMessage-ID: <new@x>\nTo: b@example.com\nSubject: new\n\nbody\n`,
    )
    const cleared = await editDraft(edited, { ...ALWAYS, to: [] }, { addsMessageId: false })
    expect(cleared.toString()).toBe(`X-Own: kept\nDate: ${NEW_DATE}\nMessage-ID: <new@x>\nSubject: new\n\nbody\n`)
  })
})
