import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { FolderMirror } from '../../../test/kit/mailbox/folder-mirror.ts'
import { expectRanges } from '../../../test/kit/messages/ranges.ts'
import { attachmentMail, plainMail } from '../../../test/servers/messages.ts'
import {
  type FolderMailProvider,
  type FolderSession,
  type MailAccess,
  ProviderError,
  type RemoteMessage,
} from '../contract/index.ts'

/** An empty mailbox at a server for one test, and what its user does with other mail programs. */
export interface MailboxFixture {
  mail: FolderMailProvider
  access: MailAccess
  deliver(raw: Buffer): Promise<void>
  setRead(message: RemoteMessage, read: boolean): Promise<void>
  setStarred(message: RemoteMessage, starred: boolean): Promise<void>
  remove(message: RemoteMessage): Promise<void>
  /** Creates a folder of these levels, and returns its path. */
  createFolder(...levels: string[]): Promise<string>
  /** Makes the server refuse the credentials of `access`, and closes open connections. */
  revoke(): Promise<void>
  stop(): Promise<void>
}

/** The contract of `FolderMailProvider`. Runs for every provider with messages known by folder and UID. */
export function folderMailboxConformance(name: string, open: () => Promise<MailboxFixture>): void {
  describe(`${name} implements the contract of a folder mailbox`, () => {
    let box: MailboxFixture
    const sessions: FolderSession[] = []
    beforeEach(async () => {
      box = await open()
    })
    afterEach(async () => {
      for (const session of sessions.splice(0)) await session.close()
      await box.mail.closeConnections()
      await box.stop()
    })
    const inbox = () => box.access.settings.imap?.mailbox ?? 'INBOX'

    async function session(events: { changes?: (string | undefined)[]; closed?: unknown[] } = {}) {
      const opened = await box.mail.openSession(
        box.access,
        { onChange: (path) => events.changes?.push(path), onClose: (error) => events.closed?.push(error) },
        new AbortController().signal,
      )
      sessions.push(opened)
      return opened
    }

    async function deliverAll(from: number, to: number) {
      for (let i = from; i <= to; i += 1) await box.deliver(plainMail({ subject: `mail ${i}` }))
    }

    it('verifies a mailbox and returns its folders with one inbox', async () => {
      const { folders } = await box.mail.verify(box.access, new AbortController().signal)
      expect(folders.filter((folder) => folder.role === 'inbox' && folder.selectable)).toHaveLength(1)
      expect(new Set(folders.map((folder) => folder.path)).size).toBe(folders.length)
    })

    it('throws auth_expired for refused credentials, from every method that connects', async () => {
      await box.revoke()
      const refused = expect.objectContaining({ name: 'ProviderError', kind: 'auth_expired' })
      await expect(box.mail.verify(box.access, new AbortController().signal)).rejects.toEqual(refused)
      await expect(session()).rejects.toEqual(refused)
      await expect(box.mail.liveReads(box.access).listFolders()).rejects.toEqual(refused)
    })

    it('fetches the newest messages in a first sync, none of them as new', async () => {
      await deliverAll(1, 12)
      const mirror = new FolderMirror(inbox(), 5)
      await mirror.sync(await session())
      expect(mirror.subjects()).toEqual(['mail 8', 'mail 9', 'mail 10', 'mail 11', 'mail 12'])
      expect([...mirror.rows.values()].some((message) => message.isNew)).toBe(false)
    })

    it('marks what went to many readers, in a first sync and later', async () => {
      const mirror = new FolderMirror(inbox())
      const opened = await session()
      for (const round of [1, 2]) {
        await box.deliver(
          plainMail({ subject: `to many ${round}`, headers: ['List-Unsubscribe: <mailto:a@x.example>'] }),
        )
        await box.deliver(plainMail({ subject: `to one ${round}` }))
        await mirror.sync(opened)
        const marks = ['many', 'one'].map((whom) => mirror.bySubject(`to ${whom} ${round}`).isBulk)
        expect(marks).toEqual([true, false])
      }
    })

    it('reports every message as new after the first sync of an empty folder', async () => {
      const mirror = new FolderMirror(inbox())
      const opened = await session()
      await mirror.sync(opened)
      expect(mirror.cursor).not.toBeNull()
      await deliverAll(1, 2)
      await mirror.sync(opened)
      expect([...mirror.rows.values()].map((message) => message.isNew)).toEqual([true, true])
    })

    it('reports new messages, changed flags and removals in later syncs, then nothing', async () => {
      await deliverAll(1, 4)
      const mirror = new FolderMirror(inbox())
      const opened = await session()
      await mirror.sync(opened)
      await box.setRead(mirror.bySubject('mail 1'), true)
      await box.setStarred(mirror.bySubject('mail 2'), true)
      await box.remove(mirror.bySubject('mail 3'))
      await deliverAll(5, 5)
      await mirror.sync(opened)
      expect(mirror.subjects()).toEqual(['mail 1', 'mail 2', 'mail 4', 'mail 5'])
      expect(mirror.bySubject('mail 1').unread).toBe(false)
      expect(mirror.bySubject('mail 2').starred).toBe(true)
      expect(mirror.bySubject('mail 5').isNew).toBe(true)
      await mirror.sync(opened)
      expect(await mirror.sync(opened)).toEqual([])
    })

    it('continues from a cursor in a later session', async () => {
      await deliverAll(1, 3)
      const mirror = new FolderMirror(inbox())
      const first = await session()
      await mirror.sync(first)
      await first.close()
      await box.setRead(mirror.bySubject('mail 2'), true)
      await box.remove(mirror.bySubject('mail 1'))
      await deliverAll(4, 5)
      await mirror.sync(await session())
      expect(mirror.subjects()).toEqual(['mail 2', 'mail 3', 'mail 4', 'mail 5'])
      expect(mirror.bySubject('mail 2').unread).toBe(false)
      expect(mirror.bySubject('mail 4').isNew).toBe(true)
    })

    it('repeats at most one step after a crash between two', async () => {
      await deliverAll(1, 6)
      const mirror = new FolderMirror(inbox())
      const opened = await session()
      await mirror.sync(opened)
      await deliverAll(7, 8)
      await box.setRead(mirror.bySubject('mail 1'), true)
      const stop = new Error('killed')
      await expect(
        mirror.sync(opened, () => {
          throw stop
        }),
      ).rejects.toBe(stop)
      await mirror.sync(opened)
      expect(mirror.subjects()).toHaveLength(8)
      expect(mirror.bySubject('mail 1').unread).toBe(false)
      expect(mirror.bySubject('mail 8').isNew).toBe(true)
    })

    it('throws cursor_expired for an unreadable cursor', async () => {
      const mirror = new FolderMirror(inbox())
      mirror.cursor = 'nonsense'
      await expect(mirror.sync(await session())).rejects.toEqual(expect.objectContaining({ kind: 'cursor_expired' }))
    })

    it('reports a message that arrives during a first sync as new', async () => {
      await deliverAll(1, 3)
      const mirror = new FolderMirror(inbox(), 3)
      const opened = await session()
      let arrived = false
      await mirror.sync(opened, async () => {
        if (arrived) return
        arrived = true
        await deliverAll(4, 4)
      })
      await mirror.sync(opened)
      expect(mirror.bySubject('mail 4').isNew).toBe(true)
      expect(mirror.bySubject('mail 3').isNew).toBe(false)
    })

    it('calls onChange for new messages, flags and removals in a watched folder', async () => {
      await deliverAll(1, 2)
      const changes: (string | undefined)[] = []
      const opened = await session({ changes })
      const mirror = new FolderMirror(inbox())
      await mirror.sync(opened)
      await opened.watch(inbox())
      const expectChange = async (act: () => Promise<void>) => {
        changes.length = 0
        await act()
        await eventually(() => changes.length > 0)
        await mirror.sync(opened)
      }
      await expectChange(() => deliverAll(3, 3))
      expect(mirror.bySubject('mail 3').isNew).toBe(true)
      await expectChange(() => box.setRead(mirror.bySubject('mail 1'), true))
      expect(mirror.bySubject('mail 1').unread).toBe(false)
      await expectChange(() => box.remove(mirror.bySubject('mail 2')))
      expect(mirror.subjects()).toEqual(['mail 1', 'mail 3'])
    })

    it('returns the changed folders, and leaves out missing ones', async () => {
      const projects = await box.createFolder('Projects')
      await deliverAll(1, 1)
      const opened = await session()
      const [first, other] = [new FolderMirror(inbox()), new FolderMirror(projects)]
      await first.sync(opened)
      await other.sync(opened)
      // Without mod-sequences a session compares each folder once; then it is in sync.
      for (const mirror of [first, other]) await mirror.sync(opened)
      const asked = [first, other].map(({ path, cursor }) => ({ path, cursor }))
      expect(await opened.changedFolders([...asked, { path: 'No such', cursor: null }])).toEqual([])
      await deliverAll(2, 2)
      expect(await opened.changedFolders(asked)).toEqual([inbox()])
    })

    it('lists folders, including new ones', async () => {
      const path = await box.createFolder('Projects', 'Größe 日本')
      const folders = await (await session()).listFolders()
      expect(folders.map((folder) => folder.path)).toContain(path)
    })

    it('keeps the pages of a live list stable while messages arrive', async () => {
      await deliverAll(1, 7)
      const live = box.mail.liveReads(box.access)
      const seen: string[] = []
      let beforeUid: number | undefined
      for (let page = 0; page < 4; page += 1) {
        const { messages } = await live.listMessages(inbox(), {
          limit: 3,
          ...(beforeUid !== undefined && { beforeUid }),
        })
        seen.push(...messages.map((message) => message.subject))
        beforeUid = messages.at(-1)?.location?.uid ?? beforeUid
        await deliverAll(8 + page, 8 + page)
      }
      expect(seen).toEqual(['mail 7', 'mail 6', 'mail 5', 'mail 4', 'mail 3', 'mail 2', 'mail 1'])
    })

    it('reads body, raw message and attachments live', async () => {
      const content = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7) % 256))
      const raw = attachmentMail({
        subject: 'files',
        text: 'Grüße',
        attachments: [{ filename: 'a b.bin', contentType: 'application/octet-stream', content }],
      })
      await box.deliver(raw)
      const live = box.mail.liveReads(box.access)
      const message = (await live.listMessages(inbox(), { limit: 1 })).messages[0]
      const location = requireLocation(message, inbox())
      expect(await live.readMessage(location)).toMatchObject({ ...message, isNew: false })
      expect(await live.getBody(location)).toMatchObject({ text: expect.stringContaining('Grüße'), html: null })
      const opened = await live.openRaw(location)
      const bytes = await readAll(await opened.read())
      expect(bytes.length).toBe(opened.sizeBytes)
      expect(bytes.includes('Subject: files')).toBe(true)
      await expectRanges(opened, bytes)
      const attachment = await live.openAttachment(location, message?.attachments[0]?.id ?? '')
      expect(attachment).toMatchObject({ filename: 'a b.bin', contentType: 'application/octet-stream' })
      expect(await readAll(await attachment.read())).toEqual(content)
      await expectRanges(attachment, content)
    })

    it('throws not_found for a deleted message and an unknown folder', async () => {
      await deliverAll(1, 1)
      const live = box.mail.liveReads(box.access)
      const message = (await live.listMessages(inbox(), { limit: 1 })).messages[0]
      if (message === undefined) throw new Error('nothing was listed')
      await box.remove(message)
      const missing = expect.objectContaining({ name: 'ProviderError', kind: 'not_found' })
      await expect(live.readMessage(requireLocation(message, inbox()))).rejects.toEqual(missing)
      await expect(live.getBody(requireLocation(message, inbox()))).rejects.toEqual(missing)
      await expect(live.openRaw(requireLocation(message, inbox()))).rejects.toEqual(missing)
      await expect(live.listMessages('No such', { limit: 1 })).rejects.toEqual(missing)
      await expect(new FolderMirror('No such').sync(await session())).rejects.toEqual(missing)
    })

    it('returns the UIDs that are still in a folder', async () => {
      await deliverAll(1, 3)
      const opened = await session()
      const mirror = new FolderMirror(inbox())
      await mirror.sync(opened)
      const uids = [...mirror.rows.keys()].sort((left, right) => left - right)
      const { uidValidity } = requireLocation(mirror.bySubject('mail 2'), inbox())
      await box.remove(mirror.bySubject('mail 2'))
      const left = await opened.presentUids(inbox(), uidValidity, uids)
      expect(left).toEqual(uids.filter((uid) => uid !== mirror.bySubject('mail 2').location?.uid))
      expect(await opened.presentUids('No such', uidValidity, uids)).toBeUndefined()
      expect(await opened.presentUids(inbox(), '1', uids)).toBeUndefined()
    })

    it('closes twice safely, emits nothing afterwards, and refuses work', async () => {
      const closed: unknown[] = []
      const opened = await session({ closed })
      await opened.close()
      await opened.close()
      await expect(opened.listFolders()).rejects.toBeInstanceOf(ProviderError)
      expect(closed).toEqual([])
    })
  })
}

function requireLocation(message: RemoteMessage | undefined, folderPath: string) {
  if (message?.location === undefined) throw new Error('the message has no location')
  return { folderPath, ...message.location }
}

async function readAll(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
