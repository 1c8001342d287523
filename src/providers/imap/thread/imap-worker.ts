import { createSecureContext } from 'node:tls'
import { parentPort } from 'node:worker_threads'
import { silentLog } from '../../../platform/log/index.ts'
import type { AddressGuard, CheckedTarget } from '../../../platform/net/index.ts'
import { RemoteCalls, toBuffer } from '../../../platform/threads/remote-calls.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { FolderSession, MailDrafts, OutgoingAttachment, SessionEvents } from '../../contract/index.ts'
import { loadImapClient } from '../connection/client.ts'
import { imapProvider } from '../provider.ts'
import { ERRORS } from './errors.ts'
import { mergedChanges } from './merged-changes.ts'
import type { ServedEvents, ServedProvider, ThreadEntry, ThreadHost } from './served.ts'

// The worker thread of `imap-thread.ts`.

const entry: ThreadEntry = {
  async start(host, limits) {
    const warn = (message: string, operation = 'imap') => void host.warn(message, operation).catch(() => {})
    const log = {
      ...silentLog,
      warn: (message: string, fields = {}) => warn(message, Reflect.get(fields, 'operation')),
      error: (message: string, fields = {}) => void host.failed(message, Reflect.get(fields, 'error')).catch(() => {}),
    }
    const { mail, sentCopies } = imapProvider({ guard: buildGuard(host), clock: systemClock, log, limits })
    // The first login would wait for it.
    await loadImapClient()
    createSecureContext()
    const served: ServedProvider = {
      verify: mail.verify,
      openSession: async (access, events, signal) =>
        servedSession(await mail.openSession(access, oneWay(events), signal)),
      liveReads: async (access) => mail.liveReads(access),
      backfill: async (access) => mail.backfill(access),
      edits: async (access) => mail.edits(access),
      drafts: async (access, folderPath) => servedDrafts(mail.drafts(access, folderPath)),
      sentCopies: async (access) => sentCopies(access),
      closeConnections: mail.closeConnections,
      async ping() {},
    }
    return served
  },
}

if (parentPort !== null) new RemoteCalls(parentPort, { serves: entry, errors: ERRORS })

function buildGuard(host: ThreadHost): AddressGuard {
  const plain = new WeakSet<CheckedTarget>()
  return {
    async check({ host: name, port }) {
      const { checked, allowsPlain } = await host.check({ host: name, port })
      if (allowsPlain) plain.add(checked)
      return checked
    },
    allowsPlain: (checked) => plain.has(checked),
  }
}

/** Events need no answer. They are lost with the main thread only. */
function oneWay(events: ServedEvents): SessionEvents {
  return {
    onChange: mergedChanges((path) => events.onChange(path)),
    onClose: (error) => void events.onClose(error).catch(() => {}),
  }
}

function servedSession(session: FolderSession): FolderSession {
  return {
    listFolders: (signal, expected) => session.listFolders(signal, expected),
    changedFolders: (folders) => session.changedFolders(folders),
    syncFolder: (request) => session.syncFolder(request),
    presentUids: (path, uidValidity, uids) => session.presentUids(path, uidValidity, uids),
    receivedBytes: () => session.receivedBytes(),
    watch: (path) => session.watch(path),
    close: () => session.close(),
  }
}

/** The content of attachments arrives as plain byte arrays. */
function servedDrafts(drafts: MailDrafts): MailDrafts {
  const withBuffers = <T extends { attachments?: OutgoingAttachment[] | undefined }>(draft: T): T => ({
    ...draft,
    attachments: draft.attachments?.map((file) => ({ ...file, content: toBuffer(file.content) })),
  })
  return {
    ...drafts,
    create: (draft, options) => drafts.create(withBuffers(draft), options),
    replace: (draft, change) => drafts.replace(draft, withBuffers(change)),
  }
}
