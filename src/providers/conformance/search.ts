import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { attachmentMail, type MailFields, plainMail } from '../../../test/servers/messages.ts'
import type { MailboxSearch, MailSearch, RemoteMessage } from '../contract/index.ts'

/** An empty mailbox to search, and what its user does with another mail program. Every method takes effect at once. */
export interface SearchFixture {
  /** Searches the inbox, or more, without a folder. */
  search(
    request: MailboxSearch,
  ): Promise<{ found: { message: RemoteMessage; folders: string[] }[]; next: string | null }>
  /** Delivers to the inbox, unread, a second or more after the message before. */
  deliver(raw: Buffer): Promise<void>
  /** Delivers to a new folder, and returns its path. */
  deliverToFolder(raw: Buffer): Promise<string>
  markRead(subject: string): Promise<void>
  markStarred(subject: string): Promise<void>
  /** Whether the last word of each list may continue in the message. */
  findsPrefixes: boolean
  /** Ways to make every later search fail, by the kind of the error. */
  failures: Record<string, () => void | Promise<void>>
  stop(): Promise<void>
}

/** The contract of searches. Runs for every provider. */
export function searchConformance(name: string, open: () => Promise<SearchFixture>): void {
  describe(`${name} searches a mailbox`, () => {
    let box: SearchFixture
    let sent = 0
    beforeEach(async () => {
      box = await open()
    })
    afterEach(() => box.stop())

    const mail = (subject: string, fields: MailFields = {}, make = plainMail) => {
      sent += 1
      const date = new Date(Date.UTC(2026, 0, 1) + sent * 1000).toUTCString()
      return make({ subject, messageId: `<${sent}@x>`, date, text: 'Empty.', ...fields })
    }
    const deliver = (...args: Parameters<typeof mail>) => box.deliver(mail(...args))
    const page = (search: MailSearch, more: Partial<MailboxSearch> = {}) =>
      box.search({ search, limit: 50, signal: AbortSignal.timeout(300_000), ...more })
    const subjects = async (search: MailSearch, more: Partial<MailboxSearch> = {}) =>
      (await page(search, more)).found.map(({ message }) => message.subject)

    it('by words of addresses, subject, text and file names, newest first', async () => {
      await deliver('Invoice one', { from: 'Ada <ada@acme.example>', text: 'quarterly figures, 東京都で会議' })
      await deliver('Invoice two', { to: 'Grace <grace@navy.example>', headers: ['Cc: Bob <bob+x@acme.example>'] })
      await deliver('Lunch', { text: 'no invoice' })
      await deliver('Files', {}, attachmentMail)
      expect(await subjects({ text: ['invoice'] })).toEqual(['Lunch', 'Invoice two', 'Invoice one'])
      expect(await subjects({ subject: ['invoice'] })).toEqual(['Invoice two', 'Invoice one'])
      expect(await subjects({ text: ['invoice', 'quarterly'] })).toEqual(['Invoice one'])
      expect(await subjects({ from: ['ada@acme.example'] })).toEqual(['Invoice one'])
      expect(await subjects({ from: ['ada', 'acme'] })).toEqual(['Invoice one'])
      expect(await subjects({ to: ['grace'] })).toEqual(['Invoice two'])
      expect(await subjects({ to: ['bob+x@acme.example'] })).toEqual(['Invoice two'])
      expect(await subjects({ text: ['bob+x@acme.example'] })).toEqual(['Invoice two'])
      expect(await subjects({ text: ['会議'] })).toEqual(['Invoice one'])
      expect(await subjects({ text: ['report.pdf'] })).toEqual(['Files'])
      expect(await subjects({ text: ['invoice'], from: ['grace'] })).toEqual([])
      expect(await subjects({ subject: ['invo'] })).toEqual(box.findsPrefixes ? ['Invoice two', 'Invoice one'] : [])
    })

    it('with no word as an operator', async () => {
      await deliver('cats and dogs')
      await deliver('birds')
      for (const words of [
        ['cats', 'or', 'birds'],
        ['not', 'cats'],
        ['birds', 'and', 'cats'],
        ['cats', 'OR', 'birds'],
        ['birds', '-cats'],
        ['subject:birds'],
      ]) {
        expect(await subjects({ text: words })).toEqual([])
      }
      expect(await subjects({ text: ['cats', 'and', 'dogs'] })).toEqual(['cats and dogs'])
      // Characters that no word should contain change nothing either.
      expect(await subjects({ text: ['x" OR subject:"birds'] })).toEqual([])
      expect(await subjects({ from: ['x\\" OR subject:birds OR from:\\"x'] })).toEqual([])
    })

    it('within a folder, a time and flags, and fetches the state of each message', async () => {
      for (const index of [0, 1, 2, 3]) await deliver(`word ${index}`)
      const folder = await box.deliverToFolder(mail('word in a folder'))
      await box.markRead('word 1')
      await box.markStarred('word 2')
      await deliver('word attached', {}, attachmentMail)
      const { found } = await page({ text: ['word'] })
      expect(found.map(({ message }) => message.isNew)).not.toContain(true)
      const bySubject = new Map(found.map(({ message }) => [message.subject, message]))
      expect(bySubject.get('word 1')).toMatchObject({ unread: false, starred: false })
      expect(bySubject.get('word 2')).toMatchObject({ unread: true, starred: true })
      const inFolder = (await page({ text: ['word'] }, { folder })).found
      expect(inFolder).toMatchObject([{ message: { subject: 'word in a folder' }, folders: [folder] }])
      expect(await subjects({ text: ['word'], hasAttachments: true })).toEqual(['word attached'])
      const before = bySubject.get('word 3')?.receivedAt ?? 0
      // Providers may return a few more around the time.
      expect(await subjects({ text: ['word'], before })).toEqual(expect.arrayContaining(['word 2', 'word 1', 'word 0']))
      expect(await subjects({ text: ['word'], before: before - 7 * 86_400_000 })).toEqual([])
      expect(await subjects({ text: ['word'], after: before + 7 * 86_400_000 })).toEqual([])
    })

    it('page by page, without gaps or repeats', async () => {
      for (let index = 0; index < 7; index += 1) await deliver(`word ${index}`)
      const found: string[] = []
      for (let next: string | null | undefined; next !== null; ) {
        const result = await page({ text: ['word'] }, { limit: 3, ...(next !== undefined && { page: next }) })
        expect(result.found.length).toBeLessThanOrEqual(3)
        found.push(...result.found.map(({ message }) => message.subject))
        next = result.next
      }
      expect(found).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `word ${index}`))
    })

    it('and names what failed', async () => {
      for (const [kind, fail] of Object.entries(box.failures)) {
        await fail()
        await expect(page({ text: ['word'] })).rejects.toMatchObject({ kind })
      }
    })
  })
}
