import type { ImapFlow, MailboxObject } from 'imapflow'
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type DraftRef,
  type FolderLiveReads,
  type MailDrafts,
  ProviderError,
  type RemoteContent,
  type RemoteDraft,
  type RemoteMessage,
} from '../../contract/index.ts'
import { composeDraft, editDraft, readDraft } from '../../shared/mime/index.ts'
import type { ImapClient } from '../connection/client.ts'
import type { RequestConnection } from '../connection/request-connection.ts'
import type { WorkLimits } from '../connection/work-limits.ts'
import { connectionLost, providerError } from '../errors.ts'
import { requireUidValidity } from '../folders/folders.ts'
import { fetchMessages } from '../messages/fetch.ts'
import { appendMessage } from './append.ts'
import { expunge, readOnlyFolder, requireDeletion } from './edits.ts'

const SAVING = 'saving a draft'
const READING = 'reading a draft'
/** A draft has few versions at once. Message-IDs that contain one another are the exception. */
const MAX_VERSIONS = 20

interface DraftOptions {
  folderPath: string
  live: Pick<FolderLiveReads, 'openRaw'>
  clock: Clock
  work: { deadlineMs: number; limits: WorkLimits }
}

/**
 * Drafts over an account's request connection. An edit appends the new version under the same Message-ID and deletes the earlier ones;
 * until then the highest UID is the current version, as for sync.
 */
export function imapDrafts(connection: () => RequestConnection, options: DraftOptions): MailDrafts {
  const { folderPath, live, clock, work } = options

  function inFolder<T>(
    doing: string,
    how: { isChange: true } | { uidValidity: string | undefined },
    task: (client: ImapClient, box: MailboxObject) => Promise<T>,
  ): Promise<T> {
    return connection().useFolder(folderPath, { ...work, ...how, doing, fresh: true, work: task })
  }

  /** All versions of the draft in the folder, the current one last. */
  async function versions(
    client: ImapClient,
    box: MailboxObject,
    ref: Pick<DraftRef, 'messageId' | 'location'>,
  ): Promise<RemoteMessage[]> {
    const { messageId, location } = ref
    const uidValidity = requireUidValidity(box)
    const knownUids = location?.uidValidity === uidValidity ? [location.uid] : []
    const found = messageId === null ? [] : await search(client.imap, messageId)
    // A search does not find an id that a program has written in another form.
    const uids = [...new Set([...knownUids, ...found.slice(-MAX_VERSIONS)])].sort((a, b) => a - b)
    if (uids.length === 0) return []
    const plan = { uidValidity, isNew: () => true, nowMs: clock.now(), lowUid: 1, limit: MAX_VERSIONS + 1 }
    const fetched = await fetchMessages(client, uids, plan)
    return fetched.filter((message) => message.messageId === messageId).sort((a, b) => uidOf(a) - uidOf(b))
  }

  const find = (ref: DraftRef) =>
    inFolder(READING, { uidValidity: ref.location?.uidValidity }, async (client, box) =>
      (await versions(client, box, ref)).at(-1),
    )

  /** Appends a version, deletes the earlier ones, and returns the one that is there now. */
  async function append(
    client: ImapClient,
    box: MailboxObject,
    { raw, messageId, earlier }: { raw: Buffer; messageId: string; earlier: readonly number[] },
  ): Promise<RemoteMessage> {
    // Each attempt would add a version to those that remain.
    if (earlier.length > 0) requireDeletion(client, SAVING)
    const flags = new Set(['\\Draft', '\\Seen', ...(await readFlags(client.imap, earlier.at(-1)))])
    const saving = appendMessage(client, { path: folderPath, content: raw, flags: [...flags] })
    const saved = await saving.catch((error: unknown) => {
      const failure = providerError(error, SAVING)
      throw box.readOnly && failure.refusal === 'not_permitted' ? readOnlyFolder(SAVING) : failure
    })
    if (earlier.length > 0) await expunge(client, earlier, SAVING)
    const uidValidity = requireUidValidity(box)
    const location = saved.uid === undefined ? null : { uidValidity, uid: saved.uid }
    const current = (await versions(client, box, { messageId, location })).at(-1)
    if (current === undefined) throw connectionLost(`${SAVING}: the server does not return what it saved`)
    return current
  }

  const remote = (message: RemoteMessage): RemoteDraft => ({ message, folders: [folderPath] })

  return {
    async create(draft, { mayExist }) {
      const raw = await composeDraft(draft)
      return inFolder(SAVING, { isChange: true }, async (client, box) => {
        const ref = { messageId: draft.messageId, location: null }
        const existing = mayExist ? (await versions(client, box, ref)).at(-1) : undefined
        return remote(existing ?? (await append(client, box, { raw, messageId: draft.messageId, earlier: [] })))
      })
    },

    async find(ref) {
      const message = await find(ref)
      return message && remote(message)
    },

    async replace(ref, change) {
      const current = await find(ref)
      const location = current?.location
      if (current === undefined || location === undefined) throw missing()
      const source = await readComplete(await live.openRaw({ folderPath, ...location }))
      const raw = await editDraft(source, change, { addsMessageId: current.messageId === null })
      const messageId = current.messageId ?? change.messageId
      return inFolder(SAVING, { isChange: true }, async (client, box) => {
        const earlier = (await versions(client, box, { ...ref, location })).map(uidOf)
        if (earlier.length === 0) throw missing()
        return remote(await append(client, box, { raw, messageId, earlier }))
      })
    },

    async delete(ref) {
      await inFolder('deleting a draft', { isChange: true }, async (client, box) => {
        const uids = (await versions(client, box, ref)).map(uidOf)
        if (uids.length > 0) await expunge(client, uids, 'deleting a draft')
      })
    },
  }
}

/** UIDs of messages whose Message-ID contains this one, ascending. Some programs write it without angle brackets. */
async function search(imap: ImapFlow, messageId: string): Promise<number[]> {
  const uids = await imap.search({ header: { 'message-id': messageId.replace(/^<|>$/g, '') } }, { uid: true })
  if (!uids) throw connectionLost('the drafts cannot be searched')
  return uids.sort((a, b) => a - b)
}

/** Flags and keywords that a client may set. */
async function readFlags(imap: ImapFlow, uid: number | undefined): Promise<string[]> {
  if (uid === undefined) return []
  const row = await imap.fetchOne(String(uid), { uid: true, flags: true }, { uid: true })
  const flags = row ? (row.flags ?? []) : []
  return [...flags].filter((flag) => flag.toLowerCase() !== '\\recent')
}

/** Throws for a draft of which the server sends only the beginning: the rest would be lost. */
async function readComplete(content: RemoteContent): Promise<Buffer> {
  const source = await readDraft(content)
  const isComplete =
    content.sizeBytes === null ? !(await hasMore(content, source.length)) : source.length === content.sizeBytes
  if (!isComplete) throw connectionLost(`${READING}: the server sent only a part of it`)
  return source
}

/** Some servers estimate the size, so only a read past the end finds it. */
async function hasMore({ read }: RemoteContent, from: number): Promise<boolean> {
  for await (const chunk of (await read({ from })) as AsyncIterable<Buffer>) if (chunk.length > 0) return true
  return false
}

function uidOf({ location }: RemoteMessage): number {
  return location?.uid ?? 0
}

function missing(): ProviderError {
  return new ProviderError('not_found', `${SAVING}: it is no longer in this folder`)
}
