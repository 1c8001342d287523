import type { IdMailboxFixture } from '../../src/providers/conformance/id-mailbox-fixture.ts'
import type { SearchFixture } from '../../src/providers/conformance/search.ts'
import { imapMailbox, otherClient } from './imap-mailbox.ts'
import type { ImapServer } from './imap-server.ts'

/** A mailbox at the fake of Google or Microsoft. */
export function idSearch(
  box: IdMailboxFixture,
  { findsPrefixes }: Pick<SearchFixture, 'findsPrefixes'>,
): SearchFixture {
  const live = box.mail.liveReads(box.access)
  const findId = async (subject: string) => {
    const { found } = await live.search({
      search: { subject: subject.split(' ') },
      limit: 1,
      signal: new AbortController().signal,
    })
    return found[0]?.message.providerMessageId ?? ''
  }
  return {
    search: live.search,
    findsPrefixes,
    async deliver(raw) {
      await box.deliver(raw)
    },
    async deliverToFolder(raw) {
      const folder = await box.createFolder('Work')
      await box.move(await box.deliver(raw), folder)
      return folder
    },
    markRead: async (subject) => box.setRead(await findId(subject), true),
    markStarred: async (subject) => box.setStarred(await findId(subject), true),
    failures: {
      unavailable: () => box.fail('unavailable', { times: 100 }),
      async auth_expired() {
        box.heal()
        await box.revoke()
      },
    },
    async stop() {
      await box.mail.closeConnections()
      await box.stop()
    },
  }
}

/** A mailbox on a real server, whose folders are searched one at a time. */
export async function imapSearch(server: ImapServer): Promise<SearchFixture> {
  const box = await imapMailbox(server)
  const live = box.mail.liveReads(box.access)
  let arrived = Date.now() - 86_400_000
  const append = (folder: string, raw: Buffer) => {
    arrived += 1000
    return otherClient(server, box.user, 'secret', async (client) => {
      await client.append(folder, raw, [], new Date(arrived))
    })
  }
  const findMessage = async (subject: string) => {
    const { messages } = await live.listMessages('INBOX', { limit: 1, search: { subject: [subject] } })
    if (messages[0] === undefined) throw new Error(`no message "${subject}"`)
    return messages[0]
  }
  return {
    findsPrefixes: true,
    async search({ folder = 'INBOX', search, limit, page }) {
      const below = page === undefined ? {} : { beforeUid: Number(page) }
      const { messages } = await live.listMessages(folder, { search, limit: limit + 1, ...below })
      const found = messages.slice(0, limit).map((message) => ({ message, folders: [folder] }))
      const last = found.at(-1)?.message.location?.uid
      return { found, next: messages.length > limit ? String(last) : null }
    },
    deliver: (raw) => append('INBOX', raw),
    async deliverToFolder(raw) {
      const folder = await box.createFolder('Work')
      await append(folder, raw)
      return folder
    },
    markRead: async (subject) => box.setRead(await findMessage(subject), true),
    markStarred: async (subject) => box.setStarred(await findMessage(subject), true),
    failures: {
      async auth_expired() {
        await box.mail.closeConnections()
        await box.revoke()
      },
    },
    async stop() {
      await box.mail.closeConnections()
      await box.stop()
    },
  }
}
