import type {
  FolderMailProvider,
  FolderSession,
  FolderStep,
  RemoteFolder,
  RemoteMessage,
  SessionEvents,
} from '../../../src/providers/contract/index.ts'

/**
 * A provider of folders whose sessions the test writes. `openSession` receives the number of the session, from 1 on, and returns its
 * differences from that of an empty INBOX.
 */
export function folderDouble(
  openSession: (number: number, events: SessionEvents) => Partial<FolderSession>,
): FolderMailProvider {
  const notUsed = () => {
    throw new Error('not used')
  }
  let sessions = 0
  return {
    kind: 'folders',
    verify: async () => ({ folders: [] }),
    closeConnections: async () => {},
    liveReads: notUsed,
    backfill: notUsed,
    edits: notUsed,
    drafts: notUsed,
    async openSession(_access, events) {
      sessions += 1
      return { ...EMPTY, ...openSession(sessions, events) }
    },
  }
}

const EMPTY: FolderSession = {
  receivedBytes: () => 0,
  listFolders: async () => [listedFolder('INBOX')],
  changedFolders: async () => [],
  async *syncFolder() {
    yield folderStep()
  },
  presentUids: async () => [],
  watch: async () => 'idle' as const,
  close: async () => {},
}

export function listedFolder(path: string): RemoteFolder {
  const role = path === 'INBOX' ? 'inbox' : null
  return { path, name: path, delimiter: '/', role, selectable: true, mailboxId: null }
}

/** The last step of a sync. */
export function folderStep(changes: Partial<FolderStep> = {}): FolderStep {
  return { reset: false, refetched: false, added: [], changed: [], removed: [], cursor: 'synced', total: 0, ...changes }
}

export function folderMessage(id: string, uid: number): RemoteMessage {
  return {
    location: { uidValidity: '1', uid },
    providerMessageId: null,
    isNew: true,
    emailId: null,
    threadId: null,
    messageId: `<${id}@x>`,
    inReplyTo: null,
    references: [],
    subject: id,
    from: null,
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    date: null,
    receivedAt: Date.now(),
    sizeBytes: 1,
    unread: true,
    starred: false,
    snippet: id,
    text: id,
    attachments: [],
    headerHash: id,
    error: null,
  }
}
