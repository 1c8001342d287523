import type { ImapFlow } from 'imapflow'
import { lazy } from '../../src/platform/concurrency/lazy.ts'
import type { EditsFixture } from '../../src/providers/conformance/edits.ts'
import type { IdMailboxFixture } from '../../src/providers/conformance/id-mailbox-fixture.ts'
import type { FolderMailProvider, MessageLocation } from '../../src/providers/contract/index.ts'
import { imapMailbox, openClient } from './imap-mailbox.ts'
import { folderPath, type ImapServer } from './imap-server.ts'
import { plainMail } from './messages.ts'

/** A mailbox at the fake of Google or Microsoft, read back through the fake's own API. */
export async function idChanges(
  box: IdMailboxFixture,
  hasColors: boolean,
): Promise<EditsFixture<{ providerMessageId: string }>> {
  const ids = new Map<string, string>()
  return {
    edits: box.mail.edits(box.access),
    inbox: box.inbox,
    trash: box.trash,
    deletesMissing: true,
    hasColors,
    createFolder: box.createFolder,
    async deliver(subject) {
      const providerMessageId = await box.deliver(plainMail({ subject }))
      ids.set(subject, providerMessageId)
      return { providerMessageId }
    },
    findRef: (before) => before,
    pathAfter: (path) => path,
    folders: async () =>
      (await box.mail.liveReads(box.access).listFolders()).map(({ fullName, name }) => fullName ?? name),
    async seen(subject) {
      const found = (await box.contents()).find(({ id }) => id === ids.get(subject))
      if (found === undefined) return undefined
      const folders = found.folders.filter((folder) => folder !== 'STARRED').sort()
      return stateText(folders.join(), found.unread, found.starred)
    },
    break: async () => box.fail('unavailable', { times: 100 }),
    async stop() {
      await box.mail.closeConnections()
      await box.stop()
    },
  }
}

/** A mailbox on a real server, read back with imapflow. */
export async function imapEditsFixture(
  server: ImapServer,
  mail?: FolderMailProvider,
): Promise<EditsFixture<MessageLocation>> {
  const box = await imapMailbox(server, {}, mail)
  // One for all, because a test delivers sixty messages.
  const client = lazy(() => openClient(server, box.user, 'secret'))
  const withClient = async <T>(work: (client: ImapFlow) => Promise<T>) => work(await client())
  return {
    edits: box.mail.edits(box.access),
    inbox: 'INBOX',
    trash: folderPath(server, 'Trash'),
    deletesMissing: false,
    hasColors: false,
    createFolder: (name) => box.createFolder(name),
    async deliver(subject) {
      await box.deliver(plainMail({ subject }))
      return withClient(async (client) => {
        // Courier keeps the UIDVALIDITY of a folder once it was selected, not examined.
        const { uidValidity } = await client.mailboxOpen('INBOX')
        const uids = await client.search({ header: { subject } }, { uid: true })
        return { folderPath: 'INBOX', uidValidity: String(uidValidity), uid: (uids || []).at(-1) ?? 0 }
      })
    },
    findRef: (_, { folders: [folderPath = ''], location }) => (location ? { folderPath, ...location } : undefined),
    pathAfter: (_, fullName) => folderPath(server, ...fullName.split('/')),
    folders: () =>
      withClient(async (client) => {
        const { prefix, separator } = server.namespace
        const paths = (await client.list()).map(({ path }) => path)
        return paths.map((path) =>
          (path.startsWith(prefix) ? path.slice(prefix.length) : path).replaceAll(separator, '/'),
        )
      }),
    seen: (subject) =>
      withClient(async (client) => {
        for (const { path } of await client.list()) {
          await client.mailboxOpen(path, { readOnly: true })
          const [uid] = (await client.search({ header: { subject } }, { uid: true })) || []
          const row = uid !== undefined && (await client.fetchOne(String(uid), { flags: true }, { uid: true }))
          if (row) return stateText(path, !row.flags?.has('\\Seen'), row.flags?.has('\\Flagged') === true)
        }
        return undefined
      }),
    async break() {
      await box.mail.closeConnections()
      await box.revoke()
    },
    async stop() {
      ;(await client()).close()
      await box.mail.closeConnections()
      await box.stop()
    },
  }
}

function stateText(folders: string, unread: boolean, starred: boolean): string {
  return `${folders} ${unread ? 'unread' : 'read'}${starred ? ' starred' : ''}`
}
