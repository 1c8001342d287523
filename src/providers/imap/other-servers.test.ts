import { afterAll, beforeAll, describe } from 'vitest'
import { imapEditsFixture } from '../../../test/servers/changes-fixtures.ts'
import { imapDraftsFixture } from '../../../test/servers/drafts-fixtures.ts'
import { imapMailbox } from '../../../test/servers/imap-mailbox.ts'
import type { ImapServer } from '../../../test/servers/imap-server.ts'
import { imapSearch } from '../../../test/servers/search-fixtures.ts'
import { courierAvailable, startCourier } from '../../../test/servers/unpacked/courier.ts'
import { cyrusAvailable, startCyrus } from '../../../test/servers/unpacked/cyrus.ts'
import { draftsConformance } from '../conformance/drafts.ts'
import { editsConformance } from '../conformance/edits.ts'
import { folderMailboxConformance } from '../conformance/folder-mailbox.ts'
import { searchConformance } from '../conformance/search.ts'

const servers = [
  { name: 'Cyrus', isAvailable: cyrusAvailable, start: () => startCyrus() },
  {
    name: 'Cyrus with folders below INBOX',
    isAvailable: cyrusAvailable,
    start: () => startCyrus({ belowInbox: true }),
    // Drafts and searches below INBOX are tested on Courier.
    onlyFolders: true,
  },
  { name: 'Courier', isAvailable: courierAvailable, start: () => startCourier() },
]

for (const { name, isAvailable, start, onlyFolders } of servers) {
  describe.skipIf(!isAvailable())(`on ${name}`, () => {
    let server: ImapServer
    beforeAll(async () => {
      server = await start()
    })
    afterAll(() => server.stop())

    folderMailboxConformance(name, () => imapMailbox(server, { pollIntervalMs: 100 }))
    editsConformance(name, () => imapEditsFixture(server))
    if (onlyFolders) return
    draftsConformance(name, () => imapDraftsFixture(server))
    searchConformance(name, () => imapSearch(server))
  })
}
