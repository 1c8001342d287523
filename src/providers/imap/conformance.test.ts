import { afterAll, beforeAll, describe } from 'vitest'
import { type Dovecot, type DovecotOptions, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { imapMailbox } from '../../../test/servers/imap-mailbox.ts'
import { folderMailboxConformance } from '../conformance/folder-mailbox.ts'

const servers: Record<string, DovecotOptions> = {
  'imap with QRESYNC': {},
  'imap with CONDSTORE only': { hideCapabilities: ['QRESYNC'] },
  'imap without CONDSTORE': { hideCapabilities: ['QRESYNC', 'CONDSTORE'] },
  'imap without IDLE and extensions': {
    hideCapabilities: [
      'IDLE',
      'QRESYNC',
      'CONDSTORE',
      'LIST-STATUS',
      'LIST-EXTENDED',
      'SPECIAL-USE',
      'NAMESPACE',
      'ESEARCH',
    ],
  },
}

for (const [name, options] of Object.entries(servers)) {
  describe.skipIf(!dovecotAvailable())(name, () => {
    let server: Dovecot
    beforeAll(async () => {
      server = await startDovecot(options)
    })
    afterAll(() => server.stop())
    folderMailboxConformance(name, () => imapMailbox(server, { pollIntervalMs: 100 }))
  })
}
