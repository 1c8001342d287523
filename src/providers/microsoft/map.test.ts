import { describe, expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { foundMessage, isComplete, isDamaged, mapAttachments, mayHaveAttachments, readHeaders } from './map.ts'

const context = { isNew: false, folder: 'inbox-id', attachments: [], nowMs: 1_000, error: null }
const person = (name: string, address: string) => ({ emailAddress: { name, address } })
const whole = {
  id: 'AAMk=',
  parentFolderId: 'sent-id',
  conversationId: 'conv',
  internetMessageId: '<one@example.test>',
  subject: 'Grüße\r\n aus 東京',
  from: person('Jörg', 'joerg@example.test'),
  toRecipients: [person('ann@example.test', 'ann@example.test'), person('', '')],
  ccRecipients: [person('Bo', 'bo@example.test')],
  bccRecipients: [],
  replyTo: null,
  sentDateTime: '2026-10-01T08:00:00Z',
  receivedDateTime: '2026-10-01T08:00:05Z',
  isRead: true,
  isDraft: false,
  flag: { flagStatus: 'flagged' },
  hasAttachments: false,
  bodyPreview: 'Hello \u200c\u200b there',
  body: { contentType: 'text', content: 'Hello there, all of it' },
  singleValueExtendedProperties: [
    { id: 'Integer 0xe08', value: '4711' },
    { id: 'String 0x1042', value: '<zero@example.test>' },
    { id: 'String 0x1039', value: '<a@x> <zero@example.test>' },
  ],
}

describe('a message of Graph as RemoteMessage', () => {
  it('has every field that Graph returns', () => {
    const { message, folders } = foundMessage(whole, context)
    expect(folders).toEqual(['sent-id'])
    expect(message).toMatchObject({
      providerMessageId: 'AAMk=',
      threadId: 'conv',
      messageId: '<one@example.test>',
      isNew: false,
      inReplyTo: '<zero@example.test>',
      references: ['<a@x>', '<zero@example.test>'],
      subject: 'Grüße aus 東京',
      from: { name: 'Jörg', email: 'joerg@example.test' },
      to: [{ name: '', email: 'ann@example.test' }],
      cc: [{ name: 'Bo', email: 'bo@example.test' }],
      bcc: [],
      replyTo: [],
      date: Date.UTC(2026, 9, 1, 8),
      receivedAt: Date.UTC(2026, 9, 1, 8, 0, 5),
      sizeBytes: 4711,
      unread: false,
      starred: true,
      snippet: 'Hello there',
      text: 'Hello there, all of it',
      error: null,
    })
  })

  it('finds its MAPI properties with and without leading zeros', () => {
    const singleValueExtendedProperties = [{ id: 'Integer 0x0E08', value: '12' }]
    expect(foundMessage({ ...whole, singleValueExtendedProperties }, context).message.sizeBytes).toBe(12)
  })

  it('is automatic by the class that Exchange gives to notes of rules, or by its header', () => {
    const isAutomatic = (messageClass: string, ...headers: { name: string; value: string }[]) => {
      const singleValueExtendedProperties = [{ id: 'String 0x1a', value: messageClass }]
      return foundMessage({ ...whole, singleValueExtendedProperties }, { ...context, headers }).message.isAutomatic
    }
    expect(isAutomatic('IPM.Note.Rules.OofTemplate.Microsoft')).toBe(true)
    expect(isAutomatic('IPM.Note')).toBe(false)
    expect(isAutomatic('IPM.Schedule.Meeting.Resp.Pos')).toBe(false)
    expect(isAutomatic('IPM.Note', { name: 'X-Autoreply', value: 'yes' })).toBe(true)
  })

  it('went to many by the property of List-Unsubscribe, by its class, or by its header', () => {
    const isBulk = (id: string, value: string, ...headers: { name: string; value: string }[]) =>
      foundMessage({ ...whole, singleValueExtendedProperties: [{ id, value }] }, { ...context, headers }).message.isBulk
    expect(isBulk('String 0x1045', '<mailto:leave@acme.example>')).toBe(true)
    expect(isBulk('String 0x1a', 'IPM.Note.Rules.OofTemplate.Microsoft')).toBe(true)
    expect(isBulk('String 0x1a', 'IPM.Note', { name: 'List-Id', value: '<team.acme.example>' })).toBe(true)
    expect(isBulk('String 0x1045', '')).toBe(false)
    expect(isBulk('String 0x1a', 'IPM.Note')).toBe(false)
  })

  it('takes from its header what Exchange could not read', () => {
    const headers = [
      { name: 'From', value: 'Mueller, Hans <hans2@example.test>' },
      { name: 'Subject', value: '=?unknown-8bit?q?Gr=C3=BC=C3=9Fe?=' },
    ]
    const restored = (item: object) => foundMessage({ ...whole, ...item }, { ...context, headers }).message
    for (const item of [{ from: person('Mueller', '') }, { from: null }, { subject: 'Gr\ufffd\ufffde' }]) {
      expect(isDamaged({ ...whole, ...item })).toBe(true)
      expect(restored(item)).toMatchObject({ subject: 'Grüße', from: { email: 'hans2@example.test' } })
    }
    expect(isDamaged(whole)).toBe(false)
    expect(isDamaged({ ...whole, from: null, isDraft: true })).toBe(false)
    expect(restored({}).subject).toBe(whole.subject.replace('\r\n', ''))
    expect(foundMessage({ ...whole, from: person('Mueller', '') }, context).message.from).toEqual({
      name: 'Mueller',
      email: '',
    })
  })

  it('falls back to the sender and to the requested folder', () => {
    const { from: _from, parentFolderId: _folder, ...rest } = whole
    const found = foundMessage({ ...rest, sender: person('Bot', 'bot@example.test') }, context)
    expect(found.message.from).toEqual({ name: 'Bot', email: 'bot@example.test' })
    expect(found.folders).toEqual(['inbox-id'])
  })

  it('keeps 4 KB of text without NUL or split characters', () => {
    const content = `${'x'.repeat(4095)}😀 and more`
    const { message } = foundMessage(
      { ...whole, subject: 'a\0b\ud800', body: { contentType: 'text', content } },
      context,
    )
    expect(message.text).toBe('x'.repeat(4095))
    expect(message.subject).toBe('ab\ufffd')
  })

  it('has up to 5,000 characters of the subject', () => {
    const mapSubject = (subject: string) => foundMessage({ ...whole, subject }, context).message.subject
    expect(mapSubject('x'.repeat(5001))).toBe('x'.repeat(5000))
    expect(mapSubject('😀'.repeat(5001))).toBe('😀'.repeat(5000))
  })

  it('never throws, whatever Graph returns', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(whole)), fc.jsonValue()), (item) => {
        const { message } = foundMessage(item, context)
        expect(JSON.stringify(message)).toBeTypeOf('string')
        expect(message.receivedAt).toBeTypeOf('number')
        mayHaveAttachments(item)
        readHeaders(item)
      }),
    )
  })

  it('is incomplete when Graph returns only the changed properties', () => {
    expect(isComplete(whole)).toBe(true)
    expect(isComplete({ id: 'AAMk=', parentFolderId: 'x', isRead: true })).toBe(false)
  })

  it('may have inline images although hasAttachments is false', () => {
    expect(mayHaveAttachments(whole)).toBe(false)
    expect(mayHaveAttachments({ ...whole, hasAttachments: true })).toBe(true)
    expect(mayHaveAttachments({ ...whole, body: { content: 'see [cid:logo@1] here' } })).toBe(true)
  })

  it('calls only that inline which its text links to', () => {
    const file = { id: 'a', filename: 'a.png', contentType: 'image/png', sizeBytes: 5, inline: true }
    const attachments = [
      { ...file, contentId: 'logo@1' },
      { ...file, contentId: 'Photo@1' },
      { ...file, contentId: null },
    ]
    const inlineWith = (content: string) =>
      foundMessage({ ...whole, body: { content } }, { ...context, attachments }).message.attachments.map(
        ({ inline }) => inline,
      )
    expect(inlineWith('see [cid:photo@1] here')).toEqual([false, true, false])
    // Sync may have cut a longer text.
    expect(inlineWith('x'.repeat(50_000))).toEqual([true, true, true])
  })

  it('maps attachments of every kind', () => {
    const kind = (name: string) => `#microsoft.graph.${name}`
    expect(
      mapAttachments([
        {
          '@odata.type': kind('fileAttachment'),
          id: 'a',
          name: 'logo.png',
          contentType: 'image/png',
          size: 5,
          isInline: true,
          contentId: '<logo@1>',
        },
        { '@odata.type': kind('itemAttachment'), id: 'b', name: 'An older mail', contentType: null, size: 7 },
        { '@odata.type': kind('referenceAttachment'), id: 'c', name: 'plan.docx', size: 9 },
        { name: 'without an id' },
      ]),
    ).toEqual([
      { id: 'a', filename: 'logo.png', contentType: 'image/png', sizeBytes: 5, inline: true, contentId: 'logo@1' },
      {
        id: 'b',
        filename: 'An older mail.eml',
        contentType: 'message/rfc822',
        sizeBytes: 7,
        inline: false,
        contentId: null,
      },
      {
        id: 'c',
        filename: 'plan.docx',
        contentType: 'application/octet-stream',
        sizeBytes: 9,
        inline: false,
        contentId: null,
      },
    ])
  })

  it('has its header fields unfolded, in order', () => {
    const internetMessageHeaders = [{ name: 'Received', value: 'a\r\n b' }, { name: 'X-One', value: '1' }, { name: 5 }]
    expect(readHeaders({ internetMessageHeaders })).toEqual([
      { name: 'Received', value: 'a b' },
      { name: 'X-One', value: '1' },
    ])
  })
})
