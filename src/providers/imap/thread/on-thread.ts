import { Readable } from 'node:stream'
import { untilAborted } from '../../../platform/concurrency/abort.ts'
import { silentLog } from '../../../platform/log/index.ts'
import { toBuffer } from '../../../platform/threads/remote-calls.ts'
import {
  type FolderLiveReads,
  type FolderMailProvider,
  type FolderSession,
  failedEach,
  type MailAccess,
  ProviderError,
  type RemoteContent,
  type SentCopies,
  type SessionEvents,
} from '../../contract/index.ts'
import { ImapThread, type ImapThreadOptions } from './imap-thread.ts'
import type { ServedEvents, ServedProvider } from './served.ts'

export interface ImapOnThread {
  mail: FolderMailProvider
  sentCopies(access: MailAccess): SentCopies
  /** Begins to start the thread, which the first login would wait for. */
  start(): void
  /** Ends the thread with all connections. */
  close(): Promise<void>
}

/** The IMAP provider on a thread of its own: parsing what servers send does not hold the event loop, nor do servers that send for harm. */
export function imapOnThread(options: Pick<ImapThreadOptions, 'guard'> & Partial<ImapThreadOptions>): ImapOnThread {
  const thread = new ImapThread({ log: silentLog, limits: {}, ...options })

  /** A part of the provider, made at its first use, and again on another thread. */
  function part<T>(make: (provider: ServedProvider) => Promise<T>): () => Promise<T> {
    let madeBy: ServedProvider | undefined
    let made: Promise<T> | undefined
    return async () => {
      const provider = await thread.provider()
      if (made === undefined || madeBy !== provider) made = make(provider)
      madeBy = provider
      return made
    }
  }

  return {
    mail: {
      kind: 'folders',
      verify: async (access, signal, options) => (await thread.provider()).verify(plain(access), signal, options),
      openSession: (access, events, signal) => openSession(thread, access, events, signal),
      liveReads: (access) => liveReads(part((provider) => provider.liveReads(plain(access)))),
      backfill(access) {
        const remote = part((provider) => provider.backfill(plain(access)))
        return {
          count: async (request) => (await remote()).count(request),
          read: async (request) => (await remote()).read(request),
        }
      },
      edits(access) {
        const remote = part((provider) => provider.edits(plain(access)))
        return {
          changeMessages: (changes) => eachResult(changes, async () => (await remote()).changeMessages(changes)),
          deleteMessages: (messages) => eachResult(messages, async () => (await remote()).deleteMessages(messages)),
          createFolder: async (position, color) => (await remote()).createFolder(position, color),
          moveFolder: async (folder, to) => (await remote()).moveFolder(folder, to),
          colorFolder: async (folder, color) => (await remote()).colorFolder(folder, color),
          deleteFolder: async (folder) => (await remote()).deleteFolder(folder),
        }
      },
      drafts(access, folderPath) {
        const remote = part((provider) => provider.drafts(plain(access), folderPath))
        return {
          create: async (draft, options) => (await remote()).create(draft, options),
          find: async (draft) => (await remote()).find(draft),
          replace: async (draft, change) => (await remote()).replace(draft, change),
          delete: async (draft) => (await remote()).delete(draft),
        }
      },
      async closeConnections(accountId) {
        if (!thread.isRunning) return
        // Not awaited: later calls come after it. With their thread, the connections have closed.
        const closing = thread.provider().then((provider) => provider.closeConnections(accountId))
        closing.catch(() => {})
      },
    },
    sentCopies(access) {
      const remote = part((provider) => provider.sentCopies(plain(access)))
      return {
        contains: async (message, signal) => (await remote()).contains(message, signal),
        count: async (messages, signal) => (await remote()).count(messages, signal),
        save: async (message, signal) => (await remote()).save(message, signal),
        markAnswered: async (message, signal) => (await remote()).markAnswered(message, signal),
      }
    },
    start: () => void thread.provider().catch(() => {}),
    close: () => thread.close(),
  }
}

/** Without members that IMAP does not need. */
function plain({ accountId, email, settings, secrets, accessToken }: MailAccess): MailAccess {
  return { accountId, email, settings, secrets, ...(accessToken && { accessToken }) }
}

/** A session whose events end with `close`, and with the thread. */
async function openSession(
  thread: ImapThread,
  access: MailAccess,
  events: SessionEvents,
  signal: AbortSignal,
): Promise<FolderSession> {
  const provider = await thread.provider()
  const { served, end } = eventsUntilEnd(thread, events)
  const remote = await provider.openSession(plain(access), served, signal).catch((error: unknown) => {
    end()
    throw error
  })
  return {
    ...remote,
    listFolders(aborting, expected) {
      const listing = remote.listFolders(aborting, expected)
      return aborting === undefined ? listing : untilAborted(listing, aborting)
    },
    // Without its thread, the session has received all that it will: no two of these numbers are equal.
    receivedBytes: () => Promise.resolve(remote.receivedBytes()).catch(() => Number.NaN),
    async close() {
      end()
      // Not awaited, for the same reasons.
      remote.close().catch(() => {})
    },
  }
}

/**
 * The events as the thread calls them, until `end`. What is served refers to no session, and after the end to nothing of the caller: the
 * thread keeps it as long as its session, and the session is kept as long as something here refers to it, so that a circle would never
 * be collected.
 */
function eventsUntilEnd(thread: ImapThread, events: SessionEvents): { served: ServedEvents; end(): void } {
  let open: SessionEvents | undefined = events
  const end = () => {
    open = undefined
    removeListener()
  }
  const onClose = async (error: ProviderError | undefined) => {
    const closing = open
    end()
    closing?.onClose(error)
  }
  const removeListener = thread.onLoss((error) => void onClose(error))
  return { served: { onChange: async (path) => open?.onChange(path), onClose }, end }
}

/** A change that its thread did not survive failed for every message. */
async function eachResult<T>(items: readonly unknown[], change: () => Promise<T[]>): Promise<(T | ProviderError)[]> {
  try {
    return await change()
  } catch (error) {
    if (error instanceof ProviderError) return failedEach(items, error)
    throw error
  }
}

function liveReads(remote: () => Promise<FolderLiveReads>): FolderLiveReads {
  return {
    listFolders: async () => (await remote()).listFolders(),
    listMessages: async (folderPath, options) => (await remote()).listMessages(folderPath, options),
    readMessage: async (message) => (await remote()).readMessage(message),
    describeMessage: async (message) => (await remote()).describeMessage(message),
    getBody: async (message) => (await remote()).getBody(message),
    openRaw: async (message) => localContent(await (await remote()).openRaw(message)),
    openAttachment: async (message, id) => localContent(await (await remote()).openAttachment(message, id)),
  }
}

/** Its bytes arrive in chunks, each when the stream has room for it. */
function localContent<T extends RemoteContent>(content: T): T {
  return {
    ...content,
    async read(range?: Parameters<RemoteContent['read']>[0]) {
      return Readable.from(buffers(await content.read(range)), { objectMode: false, highWaterMark: 1 })
    },
  }
}

async function* buffers(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield toBuffer(chunk)
}
