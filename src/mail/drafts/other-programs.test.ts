import PostalMime from 'postal-mime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeOneDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { syncedMailbox } from '../../../test/kit/mailbox/synced-mailbox.ts'
import { draftApi } from '../../../test/kit/messages/draft-api.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { otherClient } from '../../../test/servers/imap-mailbox.ts'

const PEOPLE = Array.from({ length: 3000 }, (_, n) => `Person ${n} <person${n}@example.com>`).join(',\r\n ')
const INNER = ['From: a@example.com', `To: ${PEOPLE}`, 'Subject: inner', '', 'inner text']
const FILE = [
  'Content-Type: application/pdf; name=r.pdf',
  'Content-Disposition: attachment; filename=r.pdf',
  'Content-Transfer-Encoding: base64',
  '',
  'JVBERi0=',
]

/** The content of a draft, with its content fields. */
const CONTENTS: Record<string, string[]> = {
  'a structure of over 64 kB': [
    'Content-Type: multipart/mixed; boundary=m',
    '',
    '--m',
    'Content-Type: text/plain',
    '',
    'See both.',
    '--m',
    'Content-Type: message/rfc822; name=fwd.eml',
    'Content-Disposition: attachment; filename=fwd.eml',
    '',
    ...INNER,
    '--m',
    ...FILE,
    '--m--',
  ],
  'a text in code page 949': [
    'Content-Type: text/plain; charset=cp949',
    'Content-Transfer-Encoding: 8bit',
    '',
    '\xc7\xd1\xb1\xdb\xb8\xde\xc0\xcf',
  ],
  'a body with a name': ['Content-Type: text/plain; charset=utf-8; name=note.txt', '', 'The body.'],
  'an invitation': [
    'Content-Type: multipart/alternative; boundary=m',
    '',
    '--m',
    'Content-Type: text/plain',
    '',
    'Come.',
    '--m',
    'Content-Type: text/calendar; method=REQUEST; charset=UTF-8',
    '',
    'BEGIN:VCALENDAR',
    'END:VCALENDAR',
    '--m--',
  ],
}

/** The members that the API shows of each, once its subject has changed. */
const SHOWN = [
  { body: expect.stringContaining('See both.'), attachments: [{ filename: 'fwd.eml' }, { filename: 'r.pdf' }] },
  { body: expect.stringContaining('한글메일'), attachments: [] },
  { body: expect.stringContaining('The body.'), attachments: [] },
  { body: expect.stringContaining('Come.') },
]

describe.skipIf(!dovecotAvailable())('a draft that another program has written', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeOneDatabase('over the API', 'sqlite', (open) => {
    it('keeps everything that a change does not name', async () => {
      const mailbox = await syncedMailbox(server, open)
      const { user, same, accountId } = mailbox
      const api = await draftApi(mailbox)
      const inDrafts = <T>(work: Parameters<typeof otherClient<T>>[3]) =>
        otherClient(server, user, 'one', async (client) => {
          await client.mailboxOpen('Drafts')
          return work(client)
        })
      for (const [at, content] of Object.values(CONTENTS).entries()) {
        const source = draftWith(at, content)
        await inDrafts((client) =>
          client.append('Drafts', Buffer.from(source, 'latin1'), ['\\Draft', '\\Flagged', '$Own']),
        )
      }
      const drafts = await eventually(async () => {
        await same()
        const found = (await api.get(`/accounts/${accountId}/drafts`)).json.drafts
        expect(found).toHaveLength(Object.keys(CONTENTS).length)
        return found as { id: string; subject: string }[]
      })
      for (const { id, subject } of drafts) {
        const changed = await api.put(`/drafts/${id}`, { subject: `New ${subject}` })
        expect([changed.status, changed.json.subject]).toEqual([200, `New ${subject}`])
        expect(changed.json).toMatchObject(SHOWN[Number(subject)] ?? {})
      }
      const rows = await inDrafts((client) => client.fetchAll('1:*', { source: true, flags: true }))
      const saved = rows.map(({ source }) => (source ?? Buffer.alloc(0)).toString('latin1')).sort()
      const expected = Object.values(CONTENTS).map((content, at) => {
        return draftWith(at, content).replace(`Subject: ${at}`, `Subject: New ${at}`)
      })
      expect(saved.map(withoutDate)).toEqual(expected.map(withoutDate).sort())
      for (const { flags } of rows)
        expect([...(flags ?? [])].sort()).toEqual(['$Own', '\\Draft', '\\Flagged', '\\Seen'])

      const replaced = await api.put(`/drafts/${drafts.find(({ subject }) => subject === '3')?.id}`, {
        body: 'Do come.',
      })
      expect(replaced.json).toMatchObject({ body: 'Do come.', isHtml: false })
      const sources = await inDrafts((client) => client.fetchAll('1:*', { source: true }))
      const invitation = sources.find(({ source }) => source?.includes('Do come.'))?.source ?? Buffer.alloc(0)
      const parsed = await PostalMime.parse(invitation)
      expect(parsed.attachments).toMatchObject([{ mimeType: 'text/calendar', method: 'REQUEST' }])
      expect(parsed.headers).toContainEqual(expect.objectContaining({ key: 'x-priority', value: '1 (Highest)' }))
    })

    it('refuses a change that would lose something, and says why', async () => {
      const mailbox = await syncedMailbox(server, open)
      const { user, same, accountId } = mailbox
      const api = await draftApi(mailbox)
      const source = draftWith(0, UNREADABLE)
      await otherClient(server, user, 'one', (client) => client.append('Drafts', source, ['\\Draft']))
      const draft = await eventually(async () => {
        await same()
        return (await api.get(`/accounts/${accountId}/drafts`)).json.drafts[0] ?? false
      })
      const { status, json } = await api.put(`/drafts/${draft.id}`, { body: 'new' })
      expect(json.error).toMatchObject({
        code: 'not_supported',
        message: expect.stringMatching(/its parts cannot be read, so its body cannot change\. Change other fields/),
      })
      expect(status).toBe(409)
      expect((await api.put(`/drafts/${draft.id}`, { subject: 'new' })).json).toMatchObject({ subject: 'new' })
    })
  })
})

const UNREADABLE = ['Content-Type: multipart/mixed', '', 'no boundary']

function draftWith(at: number, content: readonly string[]): string {
  return [
    'From: Dra Fter <drafter@acme.example>',
    'To: bob@example.com',
    `Subject: ${at}`,
    'Date: Fri, 20 Nov 2026 10:00:00 +0100',
    `Message-ID: <other${at}@acme.example>`,
    'In-Reply-To: <r2@example.com>',
    'References: <r1@example.com><r2@example.com>',
    'X-Priority: 1 (Highest)',
    'Disposition-Notification-To: Dra Fter <drafter@acme.example>',
    'List-Unsubscribe: <mailto:leave@example.com>,',
    '\t<https://example.com/leave>',
    'MIME-Version: 1.0',
    ...content,
    '',
  ].join('\r\n')
}

function withoutDate(message: string): string {
  return message.replace(/^Date: .*$/m, 'Date:')
}
