import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { connected } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { type FolderMailProvider, type FolderSession, ProviderError } from '../../../providers/contract/index.ts'

const open = databases('sqlite')

it('closes a session that reports its end before it is handed over, and connects again', async () => {
  const thrown: unknown[] = []
  const closed: number[] = []
  let sessions = 0
  const mail: FolderMailProvider = {
    kind: 'folders',
    verify: async () => ({ folders: [] }),
    closeConnections: async () => {},
    liveReads: () => {
      throw new Error('not used')
    },
    backfill: () => {
      throw new Error('not used')
    },
    edits: () => {
      throw new Error('not used')
    },
    drafts: () => {
      throw new Error('not used')
    },
    async openSession(_access, { onChange, onClose }) {
      sessions += 1
      const number = sessions
      if (number === 1) {
        try {
          onChange('INBOX')
          onClose(new ProviderError('unavailable', 'the server closed the connection'))
        } catch (error) {
          thrown.push(error)
        }
      }
      return { ...emptySession, close: async () => void closed.push(number) }
    },
  }
  const service = syncService(await open(), { mail })
  closing({ close: () => service.stop() })
  await service.start()
  const accountId = await service.link({ host: '127.0.0.1', imapsPort: 1 }, 'ann', 'secret')
  await connected(service, accountId)
  expect(thrown).toEqual([])
  expect(closed).toContain(1)
  expect(sessions).toBe(2)
})

/** An empty INBOX. */
const emptySession: FolderSession = {
  receivedBytes: () => 0,
  listFolders: async () => [
    { path: 'INBOX', name: 'INBOX', delimiter: '/', role: 'inbox', selectable: true, mailboxId: null },
  ],
  changedFolders: async () => [],
  async *syncFolder() {
    yield { reset: false, refetched: false, added: [], changed: [], removed: [], cursor: 'synced', total: 0 }
  },
  presentUids: async () => [],
  watch: async () => 'idle' as const,
  close: async () => {},
}
