import PostalMime from 'postal-mime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { attachmentMail, plainMail } from '../../../test/servers/messages.ts'
import type { DraftChange, DraftRef, MailDrafts, NewDraft, RemoteDraft } from '../contract/index.ts'

/** A mailbox whose only messages are the drafts of the test. */
export interface DraftsFixture {
  drafts: MailDrafts
  /** The bytes that a provider keeps as it receives them. Absent where it receives none. */
  readBytes?(draft: NewDraft): Promise<Buffer>
  /** The drafts as another program reads them. */
  raws(): Promise<Buffer[]>
  /** Another program writes a draft. */
  write(raw: Buffer): Promise<DraftRef>
  /** Another program replaces the subject and text of the only draft, as it does so. */
  edit(subject: string): Promise<void>
  /** Another program deletes the only draft. */
  remove(): Promise<void>
  stop(): Promise<void>
}

const DRAFT: NewDraft = {
  from: { name: 'Ada', email: 'ada@acme.example' },
  to: [{ name: 'Großmann', email: 'bob@example.com' }],
  cc: [{ name: '', email: 'cc@example.com' }],
  bcc: [{ name: '', email: 'hidden@example.com' }],
  subject: 'Über 100 €',
  body: { text: 'Grüße\nzwei', html: null },
  messageId: '<drf_1@acme.example>',
  date: Date.UTC(2026, 10, 20),
}

/** A change that names nothing. */
const NOTHING: DraftChange = { messageId: '<drf_2@acme.example>', date: Date.UTC(2026, 10, 21) }

/** A draft as other programs write them. */
function oddDraft(): string {
  return [
    'X-Mozilla-Draft-Info: internal/draft; vcard=0; receipt=1; DSN=0; uuencode=0',
    'from: "Ada" <ada@acme.example>',
    'To: bob@example.com,',
    '\t=?iso-8859-1?Q?Gro=DFmann?= <g@example.com>',
    'CC: cc@example.com',
    'Subject: =?utf-8?Q?odd?=',
    ' subject',
    'Date: Fri, 20 Nov 2026 10:00:00 +0100',
    'Message-ID: <theirs@x>',
    'References: <r1@x><r2@x>',
    'X-Priority: 2 (High)',
    'Disposition-Notification-To: Ada <ada@acme.example>',
    'List-Unsubscribe: <mailto:u@x.example>,',
    '  <https://x.example/u>',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=mix',
    '',
    'For old programs.',
    '--mix',
    'Content-Type: text/plain; charset=ks_c_5601-1987; name=note.txt',
    'Content-Transfer-Encoding: 8bit',
    '',
    '\xc7\xd1\xb1\xdb\xb8\xde\xc0\xcf',
    '--mix',
    'Content-Type: text/calendar; method=REQUEST; charset=UTF-8',
    'Content-Disposition: attachment; filename=invite.ics',
    '',
    'BEGIN:VCALENDAR',
    'END:VCALENDAR',
    '--mix',
    "Content-Type: application/pdf; name*0*=UTF-8''%e2%82%ac; name*1=.pdf",
    'Content-Transfer-Encoding: BASE64',
    '',
    'JVBERg==',
    'JVBERg==',
    '--mix--',
    'The end.',
    '',
  ].join('\r\n')
}

function toRef({ message }: RemoteDraft): DraftRef {
  const { draftId = null, messageId, location = null, providerMessageId } = message
  return { draftId, messageId, location, providerMessageId: providerMessageId ?? '' }
}

/** The contract of `MailDrafts`. */
export function draftsConformance(name: string, open: () => Promise<DraftsFixture>): void {
  describe(`${name} implements the contract of drafts`, () => {
    let box: DraftsFixture
    beforeEach(async () => {
      box = await open()
    })
    afterEach(() => box.stop())
    const only = async () => {
      const raws = await box.raws()
      expect(raws).toHaveLength(1)
      const [raw = Buffer.alloc(0)] = raws
      return { raw, mail: await PostalMime.parse(raw) }
    }

    it('saves a draft with every recipient, as another program reads it', async () => {
      const saved = await box.drafts.create(DRAFT, { mayExist: false })
      expect(saved.message).toMatchObject({
        to: DRAFT.to,
        cc: DRAFT.cc,
        bcc: DRAFT.bcc,
        subject: DRAFT.subject,
        unread: false,
      })
      expect(saved.message).toMatchObject({ messageId: DRAFT.messageId, text: expect.stringContaining('Grüße') })
      const { raw, mail } = await only()
      if (box.readBytes !== undefined) expect(raw.equals(await box.readBytes(DRAFT))).toBe(true)
      expect(mail).toMatchObject({ subject: DRAFT.subject, messageId: DRAFT.messageId })
      expect([mail.to, mail.cc, mail.bcc].map((people) => people?.[0]?.address)).toEqual(
        [DRAFT.to, DRAFT.cc, DRAFT.bcc].map((people) => people[0]?.email),
      )
      expect(mail.text?.trim()).toBe('Grüße\nzwei')
      expect(mail.html).toBeUndefined()
      expect(await box.drafts.find(toRef(saved))).toEqual(saved)
    })

    it('saves a draft once, although the first response was lost', async () => {
      const saved = await box.drafts.create(DRAFT, { mayExist: true })
      expect(toRef(await box.drafts.create(DRAFT, { mayExist: true }))).toEqual(toRef(saved))
      await only()
    })

    it('replaces everything that a draft says, and nothing else', async () => {
      const content = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7) % 256))
      const attachments = [{ filename: 'a b.bin', contentType: 'application/octet-stream', content }]
      const ref = await box.write(
        attachmentMail({ subject: 'files', text: 'before', messageId: '<theirs@x>', attachments }),
      )
      const body = { text: null, html: '<p>after <b>all</b></p>' }
      const saved = await box.drafts.replace(ref, { ...DRAFT, body, to: [], cc: [], bcc: DRAFT.to })
      expect(saved.message).toMatchObject({
        subject: DRAFT.subject,
        to: [],
        cc: [],
        bcc: DRAFT.to,
        messageId: '<theirs@x>',
      })
      const { mail } = await only()
      expect(mail.messageId).toBe('<theirs@x>')
      expect(mail.html).toContain('<p>after <b>all</b></p>')
      expect(mail.text?.trim()).toBe('after all')
      expect(mail.attachments).toHaveLength(1)
      expect(mail.attachments[0]).toMatchObject({ filename: 'a b.bin' })
      expect(Buffer.from(mail.attachments[0]?.content as ArrayBuffer).equals(content)).toBe(true)
    })

    it('saves attachments, keeps them in order, and replaces them by those that are given', async () => {
      const large = Buffer.from(new Uint8Array(3_200_000).map((_, i) => (i * 31) % 251))
      const file = (filename: string, content: Buffer, contentId: string | null = null) => {
        return { filename, contentType: contentId ? 'image/png' : 'text/plain', content, contentId }
      }
      const body = { text: null, html: '<img src="cid:logo@x">' }
      const attachments = [file('größe.txt', Buffer.from('one')), file('logo.png', large, 'logo@x')]
      const saved = await box.drafts.create({ ...DRAFT, body, attachments }, { mayExist: false })
      const shown = ({ message }: RemoteDraft) =>
        message.attachments.map(({ filename, inline, contentId }) => [filename, inline ? contentId : null])
      expect(shown(saved)).toEqual(
        expect.arrayContaining([
          ['größe.txt', null],
          ['logo.png', 'logo@x'],
        ]),
      )
      const contents = async () =>
        new Map(
          (await only()).mail.attachments.map(({ filename, content }) => [
            filename,
            Buffer.from(content as ArrayBuffer),
          ]),
        )
      const first = await contents()
      expect([first.size, first.get('größe.txt')?.toString(), first.get('logo.png')?.equals(large)]).toEqual([
        2,
        'one',
        true,
      ])
      const again = await box.drafts.create({ ...DRAFT, body, attachments }, { mayExist: true })
      expect(shown(again)).toEqual(shown(saved))

      const replaced = await box.drafts.replace(toRef(saved), {
        ...NOTHING,
        attachments: [file('two.txt', Buffer.from('two'))],
      })
      expect(shown(replaced).sort()).toEqual([
        ['logo.png', 'logo@x'],
        ['two.txt', null],
      ])
      const second = await contents()
      expect([second.size, second.get('two.txt')?.toString(), second.get('logo.png')?.equals(large)]).toEqual([
        2,
        'two',
        true,
      ])
      const small = await box.drafts.replace(toRef(replaced), {
        ...NOTHING,
        attachments: [file('other.png', Buffer.from('png'), 'logo@x')],
      })
      expect(shown(small)).toEqual([['other.png', 'logo@x']])
      const without = await box.drafts.replace(toRef(small), {
        ...NOTHING,
        body: { text: 'no image', html: null },
        attachments: [],
      })
      expect(shown(without)).toEqual([])
      expect((await only()).mail.text?.trim()).toBe('no image')
    })

    it('keeps what a change does not name, to the byte where the provider stores bytes', async () => {
      const theirs = oddDraft()
      const ref = await box.write(Buffer.from(theirs, 'latin1'))
      const saved = await box.drafts.replace(ref, { ...NOTHING, subject: 'Changed' })
      expect(saved.message).toMatchObject({ subject: 'Changed', cc: [{ name: '', email: 'cc@example.com' }] })
      const { raw, mail } = await only()
      expect(mail.attachments).toHaveLength(2)
      if (box.readBytes === undefined) return
      const expected = theirs
        .replace('Subject: =?utf-8?Q?odd?=\r\n subject', 'Subject: Changed')
        .replace(/^Date: .*$/m, 'Date: Sat, 21 Nov 2026 00:00:00 +0000')
      expect(raw.toString('latin1')).toBe(expected)
      await box.drafts.replace(toRef(saved), { ...NOTHING, body: { text: 'new', html: null } })
      const [before, after] = [raw.toString('latin1'), (await only()).raw.toString('latin1')].map((text) => {
        return text.split('--mix\r\n')
      })
      expect(after?.[1]?.split('\r\n\r\n')[1]?.trim()).toBe('new')
      expect(after?.toSpliced(1, 1)).toEqual(before?.toSpliced(1, 1))
    })

    it('adds a Message-ID to a draft without one', async () => {
      const ref = await box.write(plainMail({ subject: 'theirs', messageId: '' }))
      const saved = await box.drafts.replace(ref, { ...NOTHING, subject: 'mine' })
      const { mail } = await only()
      if (box.readBytes !== undefined) expect(mail.messageId).toBe(NOTHING.messageId)
      expect((await box.drafts.find(toRef(saved)))?.message.subject).toBe('mine')
    })

    it('replaces the newest version, which another program wrote', async () => {
      const first = toRef(await box.drafts.create(DRAFT, { mayExist: false }))
      await box.edit('edited')
      expect((await box.drafts.find(first))?.message.subject).toBe('edited')
      const saved = await box.drafts.replace(first, { ...DRAFT, subject: 'replaced' })
      expect((await only()).mail.subject).toBe('replaced')
      expect((await box.drafts.find(first))?.message.subject).toBe('replaced')
      expect(await box.drafts.find(toRef(saved))).toEqual(saved)
    })

    it('deletes a draft, twice safely', async () => {
      const ref = toRef(await box.drafts.create(DRAFT, { mayExist: false }))
      await box.edit('edited')
      for (let times = 0; times < 2; times += 1) await box.drafts.delete(ref)
      expect(await box.raws()).toEqual([])
      expect(await box.drafts.find(ref)).toBeUndefined()
    })

    it('does not find a draft that another program deleted, and does not replace it', async () => {
      const ref = await box.write(plainMail({ subject: 'theirs' }))
      await box.remove()
      expect(await box.drafts.find(ref)).toBeUndefined()
      await expect(box.drafts.replace(ref, NOTHING)).rejects.toMatchObject({ name: 'ProviderError', kind: 'not_found' })
      expect(await box.raws()).toEqual([])
    })
  })
}
