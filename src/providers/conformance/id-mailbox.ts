import { describe, expect, it } from 'vitest'
import { MailboxMirror } from '../../../test/kit/mailbox/mailbox-mirror.ts'
import { expectRanges } from '../../../test/kit/messages/ranges.ts'
import { attachmentMail, plainMail } from '../../../test/servers/messages.ts'
import { failureConformance } from './id-mailbox-failures.ts'
import { type IdMailboxFixture, mailboxSuite } from './id-mailbox-fixture.ts'

/** The contract of `IdMailProvider`. Runs for every provider with message ids. */
export function idMailboxConformance(name: string, open: () => Promise<IdMailboxFixture>): void {
  describe(`${name} implements the contract of an id mailbox`, () => {
    const suite = mailboxSuite(open)
    const { session, deliverAll, expectEqual, announced, signal } = suite

    it('verifies a mailbox and returns its folders with one inbox', async () => {
      const { folders } = await suite.box.mail.verify(suite.box.access, signal)
      const inbox = folders.filter((folder) => folder.role === 'inbox' && folder.selectable)
      expect(inbox.map(({ path }) => path)).toEqual([suite.box.inbox])
      expect(folders.filter((folder) => folder.role === 'trash').map(({ path }) => path)).toEqual([suite.box.trash])
      expect(new Set(folders.map(({ path }) => path)).size).toBe(folders.length)
      expect(folders.every((folder) => folder.name !== '')).toBe(true)
    })

    it('lists folders, including new ones, under a stable path', async () => {
      const path = await suite.box.createFolder('Größe 日本')
      const listed = await session().listFolders()
      expect(listed.find((folder) => folder.path === path)).toMatchObject({ name: 'Größe 日本', role: null })
      expect(await suite.box.mail.liveReads(suite.box.access).listFolders()).toEqual(listed)
    })

    it('fetches the newest messages in a first sync, none of them as new', async () => {
      await deliverAll(1, 12)
      const mirror = new MailboxMirror(5)
      await mirror.sync(session())
      expect(mirror.subjects()).toEqual(['mail 8', 'mail 9', 'mail 10', 'mail 11', 'mail 12'])
      expect(announced(mirror)).toEqual([])
      expect(mirror.bySubject('mail 8').message).toMatchObject({
        from: { name: 'Sender', email: 'sender@example.test' },
        to: [{ name: 'Receiver', email: 'receiver@example.test' }],
        messageId: expect.stringMatching(/^<.*@example.test>$/),
        snippet: expect.stringContaining('this is a plain mail.'),
        text: expect.stringContaining('this is a plain mail.'),
        error: null,
      })
    })

    it('marks what went to many readers, in a first sync and later', async () => {
      const mirror = new MailboxMirror()
      const opened = session()
      for (const round of [1, 2]) {
        const headers = ['List-Unsubscribe: <mailto:a@x.example>']
        await suite.box.deliver(plainMail({ subject: `to many ${round}`, headers }))
        await suite.box.deliver(plainMail({ subject: `to one ${round}` }))
        await mirror.sync(opened)
        const marks = ['many', 'one'].map((whom) => mirror.bySubject(`to ${whom} ${round}`).message.isBulk)
        expect(marks).toEqual([true, false])
      }
    })

    it('reports every message as new after the first sync of an empty mailbox', async () => {
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      expect(mirror.cursors.size).toBeGreaterThan(0)
      await deliverAll(1, 2)
      await mirror.sync(opened)
      expect(announced(mirror)).toEqual(['mail 1', 'mail 2'])
    })

    it('reports new messages, changed flags, moves and removals in later syncs, then nothing', async () => {
      const [first = '', second = '', third = '', fourth = ''] = await deliverAll(1, 4)
      const path = await suite.box.createFolder('Projects')
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      await suite.box.setRead(first, true)
      await suite.box.setStarred(second, true)
      await suite.box.remove(third)
      await suite.box.move(fourth, path)
      await deliverAll(5, 5)
      await mirror.sync(opened)
      await expectEqual(mirror)
      expect(mirror.bySubject('mail 4').folders).toEqual([path])
      expect(announced(mirror)).toEqual(['mail 5'])
      await mirror.sync(opened)
      const still = (await mirror.sync(opened)).filter((step) => step.found.length + step.removed.length > 0)
      expect(still).toEqual([])
    })

    it('keeps the message that is moved to the trash and back', async () => {
      const [id = ''] = await deliverAll(1, 1)
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      await suite.box.move(id, suite.box.trash)
      await mirror.sync(opened)
      await expectEqual(mirror)
      await suite.box.move(id, suite.box.inbox)
      await mirror.sync(opened)
      await expectEqual(mirror)
      expect(announced(mirror)).toEqual([])
    })

    it('continues from its cursors in a later session', async () => {
      const [first = '', second = ''] = await deliverAll(1, 3)
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      await opened.close()
      await opened.close()
      await suite.box.setRead(second, true)
      await suite.box.remove(first)
      await deliverAll(4, 5)
      await mirror.sync(session())
      await expectEqual(mirror)
      expect(announced(mirror)).toEqual(['mail 4', 'mail 5'])
    })

    it('reports a message that arrives during a first sync as new', async () => {
      await deliverAll(1, 10)
      const mirror = new MailboxMirror(10)
      const opened = session()
      let arrived = 0
      await mirror.sync(opened, async () => {
        if (arrived >= 3) return
        arrived += 1
        await deliverAll(10 + arrived, 10 + arrived)
      })
      await mirror.sync(opened)
      await expectEqual(mirror)
      expect(announced(mirror)).toEqual(Array.from({ length: arrived }, (_, i) => `mail ${11 + i}`))
    })

    it('reads body, raw message and attachments live, repeatedly', async () => {
      const content = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256))
      const attachments = [{ filename: 'a b.bin', contentType: 'application/octet-stream', content }]
      const id = await suite.box.deliver(attachmentMail({ subject: 'files', text: 'Grüße', attachments }))
      const mirror = new MailboxMirror()
      await mirror.sync(session())
      const { message } = mirror.bySubject('files')
      expect(message.attachments).toMatchObject([{ filename: 'a b.bin', contentType: 'application/octet-stream' }])
      const live = suite.box.mail.liveReads(suite.box.access)
      const mail = { providerMessageId: id }
      const body = await live.getBody(mail)
      expect(body).toMatchObject({ text: expect.stringContaining('Grüße'), html: null })
      expect(body.headers).toContainEqual({ name: 'Subject', value: 'files' })
      const opened = await live.openRaw(mail)
      const bytes = await readAll(await opened.read())
      expect(bytes.includes('Subject: files')).toBe(true)
      await expectRanges(opened, bytes)
      for (let times = 0; times < 2; times += 1) {
        const attachment = await live.openAttachment(mail, message.attachments[0]?.id ?? '')
        expect(attachment).toMatchObject({ filename: 'a b.bin', contentType: 'application/octet-stream' })
        expect((await readAll(await attachment.read())).equals(content)).toBe(true)
        await expectRanges(attachment, content)
      }
    })

    it('throws not_found for a deleted message, an unknown one and an unknown attachment', async () => {
      const [id = '', other = ''] = await deliverAll(1, 2)
      await suite.box.remove(id)
      const live = suite.box.mail.liveReads(suite.box.access)
      const missing = expect.objectContaining({ name: 'ProviderError', kind: 'not_found' })
      for (const mail of [{ providerMessageId: id }, { providerMessageId: `${other}00` }]) {
        await expect(live.getBody(mail)).rejects.toEqual(missing)
        await expect(live.openRaw(mail).then((raw) => raw.read())).rejects.toEqual(missing)
        await expect(live.openAttachment(mail, '1')).rejects.toEqual(missing)
      }
      await expect(live.openAttachment({ providerMessageId: other }, 'none')).rejects.toEqual(missing)
    })

    failureConformance(suite)
  })
}

async function readAll(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
