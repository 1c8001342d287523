import { describe, expect, it } from 'vitest'
import { foundMessage, messageBody } from './map.ts'

const b64 = (text: string | Buffer) => Buffer.from(text).toString('base64url')
const part = (partId: string, mimeType: string, more: object = {}) => ({
  partId,
  mimeType,
  filename: '',
  headers: [],
  ...more,
})
const options = { isNew: true, nowMs: 5000 }

const mixed = {
  id: 'm1',
  threadId: 't1',
  labelIds: ['INBOX', 'UNREAD', 'STARRED', 'Label_7'],
  snippet: 'it&#39;s &lt;short&gt;',
  internalDate: '1760000000000',
  sizeEstimate: 1234,
  payload: {
    partId: '',
    mimeType: 'multipart/mixed',
    filename: '',
    headers: [
      { name: 'From', value: '=?utf-8?q?J=C3=B6rg?= <j@example.test>' },
      { name: 'To', value: 'a@example.test, "B, C" <b@example.test>' },
      { name: 'Subject', value: 'Größe' },
      { name: 'Message-ID', value: '<1@example.test>' },
      { name: 'References', value: '<a@x> <b@x>' },
      { name: 'Date', value: 'Thu, 01 Oct 2026 10:00:00 +0200' },
    ],
    parts: [
      part('0', 'multipart/alternative', {
        parts: [
          part('0.0', 'text/plain', { body: { size: 5, data: b64('Grüße') } }),
          part('0.1', 'text/html', { body: { size: 5, data: b64('<img src="cid:pic@x">') } }),
        ],
      }),
      part('1', 'image/png', {
        headers: [
          { name: 'Content-ID', value: '<pic@x>' },
          { name: 'Content-Disposition', value: 'INLINE; filename=p.png' },
        ],
        filename: 'p.png',
        body: { size: 9, attachmentId: 'volatile' },
      }),
      part('2', 'message/rfc822', { body: { attachmentId: 'v', size: 3 }, parts: [part('2.0', 'text/plain')] }),
    ],
  },
}

describe('a message of Gmail', () => {
  it('is mapped to a RemoteMessage', () => {
    const { message, folders } = foundMessage('m1', mixed, options)
    expect(folders).toEqual(['INBOX', 'STARRED', 'Label_7'])
    expect(message).toMatchObject({
      providerMessageId: 'm1',
      threadId: 't1',
      messageId: '<1@example.test>',
      references: ['<a@x>', '<b@x>'],
      subject: 'Größe',
      from: { name: 'Jörg', email: 'j@example.test' },
      receivedAt: 1760000000000,
      unread: true,
      starred: true,
      isNew: true,
      snippet: 'Grüße',
      text: 'Grüße',
      sizeBytes: 1234,
      error: null,
      to: [
        { name: '', email: 'a@example.test' },
        { name: 'B, C', email: 'b@example.test' },
      ],
    })
    expect(message.attachments).toEqual([
      { id: '1', filename: 'p.png', contentType: 'image/png', sizeBytes: 9, inline: true, contentId: 'pic@x' },
      {
        id: '2',
        filename: 'part-2.eml',
        contentType: 'message/rfc822',
        sizeBytes: 3,
        inline: false,
        contentId: null,
      },
    ])
  })

  it('is automatic when its header says so', () => {
    const isAutomatic = (headers: object[]) =>
      foundMessage('m1', { ...mixed, payload: { ...mixed.payload, headers } }, options).message.isAutomatic
    expect(isAutomatic(mixed.payload.headers)).toBe(false)
    expect(isAutomatic([...mixed.payload.headers, { name: 'Auto-Submitted', value: 'auto-replied' }])).toBe(true)
  })

  it('went to many when its header says so', () => {
    const isBulk = (headers: object[]) =>
      foundMessage('m1', { ...mixed, payload: { ...mixed.payload, headers } }, options).message.isBulk
    expect(isBulk(mixed.payload.headers)).toBe(false)
    expect(isBulk([...mixed.payload.headers, { name: 'List-Id', value: '<team.acme.example>' }])).toBe(true)
  })

  it('takes its text from the snippet when Gmail omits the parts', () => {
    const { message } = foundMessage(
      'm1',
      { ...mixed, payload: part('', 'text/plain', { body: { size: 9, attachmentId: 'x' } }) },
      options,
    )
    expect(message).toMatchObject({ snippet: "it's <short>", text: "it's <short>", attachments: [] })
  })

  it('numbers its only part 0', () => {
    const payload = part('', 'application/pdf', { body: { attachmentId: 'x', size: 1 } })
    expect(foundMessage('m1', { payload }, options).message.attachments).toMatchObject([{ id: '0', sizeBytes: 1 }])
  })

  it.each([
    [{}],
    [null],
    ['text'],
    [{ payload: null, labelIds: 'INBOX', internalDate: 5, sizeEstimate: 'x', threadId: {} }],
    [{ payload: { parts: [null, 5, { parts: [{ body: [] }] }], headers: [{ name: 5 }, null, 'x'], mimeType: {} } }],
    [{ payload: { parts: {}, headers: {}, body: { data: 5, size: -1 } }, internalDate: '-5' }],
    [{ payload: { headers: [{ name: 'From', value: ';;<<>>\0\ud800' }], body: { data: '!!! no base64 \0' } } }],
  ])('of any form is read without failing: %j', async (body) => {
    const { message } = foundMessage('m1', body, options)
    expect(message).toMatchObject({ providerMessageId: 'm1', receivedAt: 5000 })
    expect(JSON.stringify(message)).not.toMatch(/\\u0000|\\ud800/)
    expect(await messageBody(body, async () => Buffer.alloc(0))).toMatchObject({ headers: expect.any(Array) })
  })

  it('is read to a depth of 100 parts', () => {
    let nested: object = part('x', 'text/plain', { body: { data: b64('deep') } })
    for (let depth = 0; depth < 5000; depth += 1) nested = part('n', 'multipart/mixed', { parts: [nested] })
    expect(foundMessage('m1', { payload: nested }, options).message.error).toBeNull()
  })

  it.each([
    ['utf-8', Buffer.from('Grüße'), 'Grüße'],
    ['iso-8859-1', Buffer.from('Gr\xfc\xdfe', 'latin1'), 'Grüße'],
    // Gmail returns UTF-8 although the header names another charset.
    ['iso-8859-1', Buffer.from('Grüße'), 'Grüße'],
    ['iso-2022-jp', Buffer.from('\x1b$B2q5D\x1b(B', 'latin1'), '会議'],
    ['x-klingon', Buffer.from('Gr\xfc\xdfe', 'latin1'), 'Grüße'],
    ['iso-8859-1', Buffer.from('caf\xe9', 'latin1'), 'café'],
  ])('has its text read as %s, as the bytes allow', async (charset, bytes, words) => {
    const headers = [{ name: 'Content-Type', value: `text/plain; charset="${charset}"` }]
    const payload = part('', 'text/plain', { headers, body: { data: b64(bytes) } })
    expect((await messageBody({ payload }, async () => Buffer.alloc(0))).text).toBe(words)
    expect(foundMessage('m1', { payload }, options).message.text).toBe(words)
  })

  it('fetches a text that Gmail left out', async () => {
    const payload = part('', 'text/html', { body: { attachmentId: 'long', size: 9 } })
    const body = await messageBody({ payload }, async ({ attachmentId }) => Buffer.from(`fetched ${attachmentId}`))
    expect(body).toMatchObject({ text: null, html: 'fetched long' })
  })
})
