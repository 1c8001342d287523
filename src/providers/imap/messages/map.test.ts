import type { FetchMessageObject } from 'imapflow'
import { describe, expect, it } from 'vitest'
import { fc } from '../../../../test/kit/random/random.ts'
import { remoteMessage } from './map.ts'

const place = {
  uidValidity: '7',
  isNew: false,
  nowMs: 1_000,
  onFault(error: unknown) {
    throw error
  },
}

function row(
  parts: { header?: string | Buffer; body?: string | Buffer } & Partial<FetchMessageObject>,
): FetchMessageObject {
  const { header = '', body = '', ...rest } = parts
  return {
    seq: 1,
    uid: 5,
    size: 100,
    flags: new Set(['\\Seen']),
    internalDate: new Date(5_000),
    headers: Buffer.from(header),
    bodyParts: new Map([['text', Buffer.from(body)]]),
    bodyStructure: { type: 'text/plain', size: 10, encoding: '7bit' },
    ...rest,
  }
}

const mapHeader = (header: string | Buffer) => remoteMessage(row({ header }), place).message

describe('a fetched row as RemoteMessage', () => {
  it('has its headers decoded and unfolded, and ids without brackets', () => {
    const message = mapHeader(
      [
        'From: =?utf-8?Q?J=C3=B6rg?= <joerg@example.test>',
        'To: "Doe, Jane" <jane@example.test>,',
        ' Team: a@example.test, b@example.test;',
        'Subject: =?utf-8?B?5p2x5Lo=?=',
        ' =?utf-8?B?rA==?= =?iso-8859-1?Q?Gr=FC=DFe?=',
        'Message-ID: <one@example.test> (comment)',
        'In-Reply-To: Your message <zero@example.test>',
        'References: <a@x> <b@x>',
        '  <c@x>',
        'Date: Thu, 01 Oct 2026 10:00:00 +0200 (CEST)',
        '',
      ].join('\r\n'),
    )
    expect(message).toMatchObject({
      from: { name: 'Jörg', email: 'joerg@example.test' },
      to: [
        { name: 'Doe, Jane', email: 'jane@example.test' },
        { name: '', email: 'a@example.test' },
        { name: '', email: 'b@example.test' },
      ],
      subject: '東京Grüße',
      messageId: '<one@example.test>',
      inReplyTo: '<zero@example.test>',
      references: ['<a@x>', '<b@x>', '<c@x>'],
      date: Date.UTC(2026, 9, 1, 8),
      receivedAt: 5_000,
      unread: false,
    })
  })

  it('ends an unclosed id at its first word', () => {
    const { messageId, inReplyTo } = mapHeader('Message-ID: <<<<open ended\r\nIn-Reply-To: x <a@b\r\n')
    expect([messageId, inReplyTo]).toEqual(['<open>', '<a@b>'])
  })

  it('keeps its header hash wherever it is moved', () => {
    const header = mapHeader('Subject: a\r\n')
    expect(header.headerHash).toMatch(/^[0-9a-f]{64}$/)
    expect(mapHeader('Subject: a\r\n').headerHash).toBe(header.headerHash)
    expect(mapHeader('Subject: b\r\n').headerHash).not.toBe(header.headerHash)
  })

  it('takes the text of a nested message, and of its HTML only without a text part', () => {
    const alternative = {
      type: 'multipart/alternative',
      part: '1',
      parameters: { boundary: 'in--ner' },
      childNodes: [
        {
          part: '1.1',
          type: 'text/plain',
          size: 9,
          encoding: 'quoted-printable',
          parameters: { charset: 'iso-8859-1' },
        },
        { part: '1.2', type: 'text/html', size: 9, encoding: 'base64', parameters: { charset: 'utf-8' } },
      ],
    }
    const pdf = { part: '2', type: 'application/pdf', size: 780, encoding: 'base64', parameters: { name: 'r.pdf' } }
    const bodyStructure = { type: 'multipart/mixed', parameters: { boundary: 'out' }, childNodes: [alternative, pdf] }
    const html = Buffer.from('<p>Größe</p>').toString('base64')
    const body = (text: string) =>
      `preamble --out\r\n--out\r\nContent-Type: multipart/alternative; boundary="in--ner"\r\n\r\n--in--ner\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${text}\r\n--in--ner\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n${html}\r\n--in--ner--\r\n--out\r\n`
    const header = 'Content-Type: multipart/mixed; boundary=out\r\n\r\n'
    const mapText = (text: string) => remoteMessage(row({ header, body: body(text), bodyStructure }), place).message
    expect(mapText('Gr=FC=DFe =\r\nalle')).toMatchObject({
      text: 'Grüße alle',
      attachments: [{ id: '2', filename: 'r.pdf', contentType: 'application/pdf', sizeBytes: 570, inline: false }],
    })
    expect(mapText('   ').text).toBe('Größe')
  })

  it('bounds every field', () => {
    const long = 'x'.repeat(200_000)
    const message = mapHeader(
      `Subject: ${long}\r\nFrom: ${long} <a@example.test>\r\nReferences: ${'<a@x> '.repeat(5000)}\r\nTo: ${'a@example.test, '.repeat(5000)}\r\n`,
    )
    expect(JSON.stringify(message).length).toBeLessThan(100_000)
    const text = remoteMessage(row({ body: long }), place).message
    expect(text.text).toHaveLength(4096)
    expect(text.snippet).toHaveLength(200)
  })

  it('never throws and is always storable, whatever the bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
      fc
        .array(
          fc.constantFrom(
            'Subject:',
            'From:',
            'To:',
            'Date:',
            '\r\n',
            ' ',
            '=?utf-8?B?',
            '?=',
            '=?utf-16be?B?2AA=?=',
            '<',
            '>',
            '"',
            ',',
            ';',
            ':',
            '@',
            '\0',
            'a',
            '--b',
            '\\',
          ),
          { maxLength: 60 },
        )
        .map((parts) => Buffer.from(parts.join(''))),
    )
    const structure = fc.constantFrom<FetchMessageObject['bodyStructure']>(
      undefined,
      { type: 'text/html', size: 5, encoding: 'base64', parameters: { charset: 'utf-16' } },
      {
        type: 'multipart/mixed',
        parameters: { boundary: 'b' },
        childNodes: [{ part: '1', type: 'text/plain', size: 3 }],
      },
    )
    fc.assert(
      fc.property(bytes, bytes, structure, (header, body, bodyStructure) => {
        const { bodyStructure: _own, ...bare } = row({ header, body })
        const fetched = bodyStructure === undefined ? bare : { ...bare, bodyStructure }
        const text = JSON.stringify(remoteMessage(fetched, place).message)
        expect(text.includes('\\u0000')).toBe(false)
        expect(text).not.toMatch(/\\ud[89a-f]/i)
      }),
    )
  })
})
