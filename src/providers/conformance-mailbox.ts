import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MailboxMirror } from '../../test/kit/mailbox-mirror.ts'
import { attachmentMail, plainMail } from '../../test/servers/messages.ts'
import type { MailAccess, MailboxMail } from './provider.ts'

/** A mailbox of ids at a provider, and the hands of its owner. A fresh and empty one per test; every method acts at once. */
export interface IdMailboxFixture {
  mail: MailboxMail
  /** Its `accessToken` renews a token that is refused, until `revoke`. */
  access: MailAccess
  /** Paths of folders (or labels) that every mailbox has. */
  inbox: string
  trash: string
  /** Into the inbox, unread. Answers the provider's id. */
  deliver(raw: Buffer): Promise<string>
  setRead(id: string, read: boolean): Promise<void>
  setStarred(id: string, starred: boolean): Promise<void>
  /** Into this folder and out of every other. Its id stays. */
  move(id: string, folderPath: string): Promise<void>
  /** For good. */
  remove(id: string): Promise<void>
  /** Answers its path. */
  createFolder(name: string): Promise<string>
  /** What the provider holds now. */
  contents(): Promise<{ id: string; unread: boolean; starred: boolean; folders: string[] }[]>
  /** Every cursor given out so far is too old. */
  expireCursors(): Promise<void>
  /** So many requests for mails (not for tokens) fail this way from now on. */
  fail(
    how: 'rate_limited' | 'unavailable' | 'malformed' | 'reset',
    options?: { times?: number; retryAfterS?: number },
  ): void
  /** Failures that were asked for and have not happened are called off. */
  heal(): void
  /** Access tokens given out so far are refused; new ones work. */
  expireTokens(): void
  /** The owner took the consent back. */
  revoke(): Promise<void>
  stop(): Promise<void>
}

/** What every provider of a mailbox of ids keeps, whatever stands behind it. */
export function idMailboxConformance(name: string, open: () => Promise<IdMailboxFixture>): void {
  describe(`${name} keeps the contract of a mailbox of ids`, () => {
    let box: IdMailboxFixture
    beforeEach(async () => {
      box = await open()
    })
    afterEach(async () => {
      await box.mail.closeOperations()
      await box.stop()
    })
    const { signal } = new AbortController()
    const session = () => box.mail.openSession(box.access)

    async function deliverAll(from: number, to: number): Promise<string[]> {
      const ids: string[] = []
      for (let i = from; i <= to; i += 1) ids.push(await box.deliver(plainMail({ subject: `mail ${i}` })))
      return ids
    }

    /** Mirror and provider hold the same, mail for mail. */
    async function expectEqual(mirror: MailboxMirror) {
      const here = [...mirror.rows.values()].map(({ message, folders }) => ({
        ...{ id: message.providerMessageId, unread: message.unread, starred: message.starred },
        folders: [...folders].sort(),
      }))
      const there = (await box.contents()).map((mail) => ({ ...mail, folders: [...mail.folders].sort() }))
      const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)
      expect(here.sort(byId)).toEqual(there.sort(byId))
    }

    const announced = (mirror: MailboxMirror) =>
      mirror
        .subjects()
        .filter((subject) => mirror.bySubject(subject).announced)
        .sort()

    it('verifies a mailbox and answers its folders, one inbox among them', async () => {
      const { folders } = await box.mail.verify(box.access, signal)
      const inbox = folders.filter((folder) => folder.role === 'inbox' && folder.selectable)
      expect(inbox.map(({ path }) => path)).toEqual([box.inbox])
      expect(folders.filter((folder) => folder.role === 'trash').map(({ path }) => path)).toEqual([box.trash])
      expect(new Set(folders.map(({ path }) => path)).size).toBe(folders.length)
      expect(folders.every((folder) => folder.name !== '')).toBe(true)
    })

    it('lists folders, the created ones too, by the same path before and after', async () => {
      const path = await box.createFolder('Größe 日本')
      const listed = await session().listFolders()
      expect(listed.find((folder) => folder.path === path)).toMatchObject({ name: 'Größe 日本', role: null })
      expect(await box.mail.operations(box.access).listFolders()).toEqual(listed)
    })

    it('answers a consent taken back with auth_expired, on every way in', async () => {
      const [id = ''] = await deliverAll(1, 1)
      await box.revoke()
      const refused = expect.objectContaining({ name: 'ProviderError', kind: 'auth_expired' })
      await expect(box.mail.verify(box.access, signal)).rejects.toEqual(refused)
      await expect(session().listFolders()).rejects.toEqual(refused)
      await expect(new MailboxMirror().sync(session())).rejects.toEqual(refused)
      await expect(box.mail.operations(box.access).getBody({ providerMessageId: id })).rejects.toEqual(refused)
    })

    it('goes on with a new token when the one in use dies', async () => {
      await deliverAll(1, 2)
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      box.expireTokens()
      await deliverAll(3, 3)
      await mirror.sync(opened)
      await expectEqual(mirror)
      box.expireTokens()
      expect((await box.mail.verify(box.access, signal)).folders).not.toEqual([])
    })

    it('a first sync brings the newest messages, none of them as new', async () => {
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

    it('a first sync of an empty mailbox gives cursors from which all mail is new', async () => {
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      expect(mirror.cursors.size).toBeGreaterThan(0)
      await deliverAll(1, 2)
      await mirror.sync(opened)
      expect(announced(mirror)).toEqual(['mail 1', 'mail 2'])
    })

    it('later syncs bring new mail as new, changed flags, moves and removals, and then nothing', async () => {
      const [first = '', second = '', third = '', fourth = ''] = await deliverAll(1, 4)
      const path = await box.createFolder('Projects')
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      await box.setRead(first, true)
      await box.setStarred(second, true)
      await box.remove(third)
      await box.move(fourth, path)
      await deliverAll(5, 5)
      await mirror.sync(opened)
      await expectEqual(mirror)
      expect(mirror.bySubject('mail 4').folders).toEqual([path])
      expect(announced(mirror)).toEqual(['mail 5'])
      await mirror.sync(opened)
      const still = (await mirror.sync(opened)).filter((step) => step.found.length + step.removed.length > 0)
      expect(still).toEqual([])
    })

    it('a mail moved into the trash and back is the same mail', async () => {
      const [id = ''] = await deliverAll(1, 1)
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      await box.move(id, box.trash)
      await mirror.sync(opened)
      await expectEqual(mirror)
      await box.move(id, box.inbox)
      await mirror.sync(opened)
      await expectEqual(mirror)
      expect(announced(mirror)).toEqual([])
    })

    it('cursors work in a later session: what happened in between is found', async () => {
      const [first = '', second = ''] = await deliverAll(1, 3)
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      await opened.close()
      await opened.close()
      await box.setRead(second, true)
      await box.remove(first)
      await deliverAll(4, 5)
      await mirror.sync(session())
      await expectEqual(mirror)
      expect(announced(mirror)).toEqual(['mail 4', 'mail 5'])
    })

    it('a crash between any two steps repeats at most one: every step is whole with its cursor', async () => {
      const stop = new Error('killed')
      const mirror = new MailboxMirror()
      /** Dies after each step, until a round comes to its end. */
      const syncDying = async () => {
        for (let rounds = 0; rounds < 30; rounds += 1) {
          let steps = 0
          const round = mirror.sync(session(), (step) => {
            steps += step.found.length + step.changed.length + step.removed.length
            if (steps > 0) throw stop
          })
          if ((await round.catch((error: unknown) => error)) !== stop) return round
        }
        throw new Error('it never came to its end')
      }
      const [first = ''] = await deliverAll(1, 9)
      await syncDying()
      await expectEqual(mirror)
      await deliverAll(10, 13)
      await box.setRead(first, true)
      await syncDying()
      await expectEqual(mirror)
      expect(announced(mirror)).toEqual(['mail 10', 'mail 11', 'mail 12', 'mail 13'])
      await box.remove(first)
      await deliverAll(14, 14)
      await box.expireCursors()
      await syncDying()
      await expectEqual(mirror)
    })

    it('mail that arrives during a first sync is found, and is new', async () => {
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

    it('cursors that cannot be read, or are too old, are answered with cursor_expired', async () => {
      await deliverAll(1, 1)
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      const [scope = ''] = opened.scopes(await opened.listFolders())
      const ask = async (cursor: string) => {
        const oldest = async () => null
        for await (const _step of opened.syncScope({ scope, cursor, initialMessages: 5, oldest, signal })) break
      }
      const expired = expect.objectContaining({ name: 'ProviderError', kind: 'cursor_expired' })
      await expect(ask('nonsense')).rejects.toEqual(expired)
      await box.expireCursors()
      await expect(ask(mirror.cursors.get(scope) ?? '')).rejects.toEqual(expired)
    })

    it('after cursors expired a comparison finds everything, and brings nothing older than what is stored', async () => {
      await deliverAll(1, 3)
      const [fourth = '', fifth = '', sixth = '', seventh = ''] = await deliverAll(4, 8)
      const path = await box.createFolder('Projects')
      const mirror = new MailboxMirror(5)
      const opened = session()
      await mirror.sync(opened)
      await box.setRead(fourth, true)
      await box.setStarred(fifth, true)
      await box.remove(sixth)
      await box.move(seventh, path)
      await deliverAll(9, 9)
      await box.expireCursors()
      const steps = await mirror.sync(opened)
      expect(mirror.subjects()).toEqual(['mail 4', 'mail 5', 'mail 7', 'mail 8', 'mail 9'])
      expect(mirror.bySubject('mail 4').message.unread).toBe(false)
      expect(mirror.bySubject('mail 5').message.starred).toBe(true)
      expect(mirror.bySubject('mail 7').folders).toEqual([path])
      expect(steps.some((step) => step.refetched)).toBe(true)
      const before = steps.flatMap((step) => step.found).filter(({ message }) => message.subject === 'mail 9')
      expect(before).toHaveLength(1)
      await deliverAll(10, 10)
      await mirror.sync(opened)
      expect(announced(mirror)).toEqual(['mail 10'])
    })

    it('a mail that went before it was fetched is left out', async () => {
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      const [first = '', second = ''] = await deliverAll(1, 3)
      await box.remove(first)
      await box.move(second, box.trash)
      await box.remove(second)
      await mirror.sync(opened)
      expect(mirror.subjects()).toEqual(['mail 3'])
    })

    it('a long pause asked for is rate_limited with its length; a short one is waited for; nothing is lost', async () => {
      await deliverAll(1, 2)
      const mirror = new MailboxMirror()
      box.fail('rate_limited', { retryAfterS: 0 })
      await mirror.sync(session())
      await expectEqual(mirror)
      await deliverAll(3, 4)
      box.fail('rate_limited', { retryAfterS: 600 })
      await expect(mirror.sync(session())).rejects.toEqual(
        expect.objectContaining({ kind: 'rate_limited', retryAfterMs: 600_000 }),
      )
      // The pause is over: whoever closes the mailbox forgets it.
      await box.mail.closeOperations(box.access.accountId)
      await mirror.sync(session())
      await expectEqual(mirror)
      expect(announced(mirror)).toEqual(['mail 3', 'mail 4'])
    })

    it.each(['unavailable', 'malformed', 'reset'] as const)(
      'a failure (%s) is unavailable, and the next sync goes on',
      async (how) => {
        await deliverAll(1, 3)
        const mirror = new MailboxMirror()
        const opened = session()
        await mirror.sync(opened)
        await deliverAll(4, 4)
        box.fail(how, { times: 50 })
        await expect(mirror.sync(opened)).rejects.toMatchObject({ name: 'ProviderError', kind: 'unavailable' })
        await expect(box.mail.verify(box.access, signal)).rejects.toMatchObject({ kind: 'unavailable' })
        box.heal()
        await mirror.sync(opened)
        await expectEqual(mirror)
        expect(announced(mirror)).toEqual(['mail 4'])
      },
    )

    it('holds what the provider holds after any story, with failures and expired cursors in between', async () => {
      const act = fc.record({
        kind: fc.constantFrom('deliver', 'read', 'star', 'move', 'remove', 'sync', 'expire', 'fail', 'token'),
        pick: fc.nat(20),
      })
      await fc.assert(
        fc
          .asyncProperty(fc.array(act, { minLength: 5, maxLength: 25 }), async (story) => {
            const path = await box.createFolder('Projects')
            const mirror = new MailboxMirror()
            const all: string[] = []
            await mirror.sync(session())
            for (const { kind, pick } of story) {
              const mails = await box.contents()
              const id = mails[pick % Math.max(1, mails.length)]?.id
              if (kind === 'deliver') all.push(...(await deliverAll(all.length + 1, all.length + 1)))
              if (kind === 'sync') await mirror.sync(session()).catch(() => {})
              if (kind === 'expire') await box.expireCursors()
              if (kind === 'token') box.expireTokens()
              if (kind === 'fail') box.fail(pick % 2 === 0 ? 'unavailable' : 'reset', { times: 1 + (pick % 3) })
              if (id === undefined) continue
              if (kind === 'read') await box.setRead(id, pick % 2 === 0)
              if (kind === 'star') await box.setStarred(id, pick % 2 === 0)
              if (kind === 'move') await box.move(id, [box.inbox, path, box.trash][pick % 3] ?? box.inbox)
              if (kind === 'remove') await box.remove(id)
            }
            box.heal()
            await mirror.sync(session())
            await expectEqual(mirror)
          })
          .beforeEach(async () => {
            await box.mail.closeOperations()
            await box.stop()
            box = await open()
          }),
        { numRuns: 8 },
      )
    })

    it('reads body, raw mail and attachments live, however often a mail was fetched before', async () => {
      const content = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256))
      const attachments = [{ filename: 'a b.bin', contentType: 'application/octet-stream', content }]
      const id = await box.deliver(attachmentMail({ subject: 'files', text: 'Grüße', attachments }))
      const mirror = new MailboxMirror()
      await mirror.sync(session())
      const { message } = mirror.bySubject('files')
      expect(message.attachments).toMatchObject([{ filename: 'a b.bin', contentType: 'application/octet-stream' }])
      const operations = box.mail.operations(box.access)
      const mail = { providerMessageId: id }
      const body = await operations.getBody(mail)
      expect(body).toMatchObject({ text: expect.stringContaining('Grüße'), html: null })
      expect(body.headers).toContainEqual({ name: 'Subject', value: 'files' })
      const bytes = await readAll((await operations.openRaw(mail)).stream)
      expect(bytes.includes('Subject: files')).toBe(true)
      for (let times = 0; times < 2; times += 1) {
        const attachment = await operations.openAttachment(mail, message.attachments[0]?.id ?? '')
        expect(attachment).toMatchObject({ filename: 'a b.bin', contentType: 'application/octet-stream' })
        expect((await readAll(attachment.stream)).equals(content)).toBe(true)
      }
    })

    it('a message that went, an unknown one and an unknown attachment are not_found', async () => {
      const [id = '', other = ''] = await deliverAll(1, 2)
      await box.remove(id)
      const operations = box.mail.operations(box.access)
      const missing = expect.objectContaining({ name: 'ProviderError', kind: 'not_found' })
      for (const mail of [{ providerMessageId: id }, { providerMessageId: `${other}00` }]) {
        await expect(operations.getBody(mail)).rejects.toEqual(missing)
        await expect(operations.openRaw(mail)).rejects.toEqual(missing)
        await expect(operations.openAttachment(mail, '1')).rejects.toEqual(missing)
      }
      await expect(operations.openAttachment({ providerMessageId: other }, 'none')).rejects.toEqual(missing)
    })

    it('a signal ends a sync at once, and nothing is lost', async () => {
      await deliverAll(1, 3)
      const giveUp = new AbortController()
      const opened = session()
      const [scope = ''] = opened.scopes(await opened.listFolders())
      const reason = new Error('stopped')
      giveUp.abort(reason)
      const request = { scope, cursor: null, initialMessages: 5, oldest: async () => null, signal: giveUp.signal }
      const ask = async () => {
        for await (const _step of opened.syncScope(request)) break
      }
      await expect(ask()).rejects.toThrow('stopped')
      const mirror = new MailboxMirror()
      await mirror.sync(opened)
      await expectEqual(mirror)
    })
  })
}

async function readAll(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
