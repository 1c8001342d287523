import { randomFillSync } from 'node:crypto'
import { expect, it } from 'vitest'
import { composedParts, composeMessage, headerFields, type OutgoingMessage } from '../index.ts'

const MESSAGE: OutgoingMessage = {
  from: { name: 'Ada', email: 'ada@acme.example' },
  to: [{ name: 'Bob', email: 'bob@example.com' }],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: 'Über',
  text: null,
  html: null,
  attachments: [],
  messageId: '<1@x>',
  inReplyTo: null,
  references: [],
  date: 0,
  sentToken: null,
  headers: [],
}

const composeParts = async (more: Partial<OutgoingMessage>) =>
  composedParts(await composeMessage({ ...MESSAGE, ...more }))

it('takes a composed message apart: header, bodies, images and files', async () => {
  const forwarded = Buffer.from(
    'Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nü\r\n--b--\r\n',
  )
  const files = [
    {
      filename: 'größe "1"\\.bin',
      contentType: 'application/x-test',
      content: randomFillSync(Buffer.alloc(1_000_003)),
    },
    { filename: 'notes.txt', contentType: 'text/plain', content: Buffer.from('--not a boundary\r\n') },
    {
      filename: 'invite.ics',
      contentType: 'text/calendar; method=REQUEST; charset=UTF-8',
      content: Buffer.from('BEGIN:VCALENDAR'),
    },
    { filename: 'empty', contentType: 'application/pdf', content: Buffer.alloc(0) },
    { filename: 'original.eml', contentType: 'message/rfc822', content: forwarded },
  ]
  const logo = { filename: 'logo.png', contentType: 'image/png', content: Buffer.from('png'), contentId: 'logo' }
  const attachments = [...files.map((file) => ({ ...file, contentId: null })), logo]
  const html = `<p>Größe = 3</p>${'<b>x</b>'.repeat(50)}<img src="cid:logo">`
  const parts = await composeParts({ html, attachments })
  expect(headerFields(parts.headers)).toMatchObject({ subject: 'Über', messageId: '<1@x>', to: MESSAGE.to })
  const body = parts.body()
  expect(body.html?.trim()).toBe(html)
  expect(body.text?.trim()).toContain('Größe = 3')
  expect(parts.bodyBytes).toBeGreaterThan(html.length)
  const found = parts.attachments.map(({ filename, contentType, contentId }) => ({ filename, contentType, contentId }))
  expect(found).toHaveLength(attachments.length)
  for (const { content, ...attachment } of attachments) {
    const shown = { ...attachment, filename: attachment.filename.replace('\\', '_') }
    expect(found).toContainEqual(shown)
    const part = parts.attachments.find(({ filename }) => filename === shown.filename)
    expect((await part?.content())?.equals(content)).toBe(true)
  }
})

it('reads a message without attachments', async () => {
  const text = 'Grüße\nzwei'
  const parts = await composeParts({ text })
  expect(parts.body()).toEqual({ text: expect.stringContaining(text), html: null })
  expect(parts.attachments).toEqual([])
})
