import { Readable } from 'node:stream'
import { byteRange } from '../../platform/concurrency/byte-stream.ts'
import {
  type FolderLiveReads,
  type MessageBody,
  type MessageLocation,
  ProviderError,
  type RemoteContent,
  type RemoteFile,
  type RemoteMessage,
} from '../contract/index.ts'
import { attachmentName, fileType } from '../shared/mime/index.ts'
import type { RequestConnection } from './connection/request-connection.ts'
import { listFolders, requireUidValidity } from './folders/folders.ts'
import {
  type AccountReads,
  atMessage,
  fetchOne,
  type LiveReadOptions,
  readChunks,
  requireSame,
  verify,
} from './live-message.ts'
import { asBuffer, describeMessages, fetchMessages } from './messages/fetch.ts'
import {
  decode,
  endsAt,
  ensurePresent,
  findPart,
  firstByte,
  header,
  notFound,
  partOfSource,
  sourceBody,
  structuredBody,
} from './messages/live-parts.ts'
import { countBelow, uidsAt } from './messages/uids.ts'
import { searchUids } from './search.ts'

/** Reads over an account's request connection. `connection` returns the current one, because an earlier one may have closed. */
export function imapLiveReads(connection: () => RequestConnection, options: LiveReadOptions): FolderLiveReads {
  const reads: AccountReads = { ...options, connection, verified: new WeakMap() }
  return {
    listFolders: () =>
      connection().use({
        ...reads.read,
        doing: 'listing the folders',
        prepare: async () => {},
        work: (client) => listFolders(client),
      }),
    listMessages: (folderPath, query) => listMessages(reads, folderPath, query),
    readMessage: (location) => fetchOne(reads, location, fetchMessages),
    describeMessage: (location) => fetchOne(reads, location, describeMessages),
    getBody: (location) => getBody(reads, location),
    openRaw: (location) => openRaw(reads, location),
    openAttachment: (location, attachmentId) => openAttachment(reads, location, attachmentId),
  }
}

function listMessages(
  { connection, clock, read }: AccountReads,
  folderPath: string,
  { limit, beforeUid, offset = 0, search }: Parameters<FolderLiveReads['listMessages']>[1],
): Promise<{ messages: RemoteMessage[]; total: number }> {
  return connection().useFolder(folderPath, {
    ...read,
    fresh: true,
    doing: 'listing messages',
    async work(client, box) {
      const uidValidity = requireUidValidity(box)
      const plan = { uidValidity, isNew: () => false, nowMs: clock.now(), lowUid: 1, limit }
      if (search !== undefined) {
        const found = await searchUids(client.imap, box.exists, search)
        const below = beforeUid === undefined ? found : found.filter((uid) => uid < beforeUid)
        const end = Math.max(0, below.length - offset)
        const messages = await fetchMessages(client, below.slice(Math.max(0, end - limit), end), plan)
        return { messages: messages.sort(newestFirst), total: found.length }
      }
      const top = beforeUid === undefined ? box.exists : await countBelow(client.imap, box.exists, beforeUid)
      const high = top - offset
      if (high < 1) return { messages: [], total: box.exists }
      const uids = await uidsAt(client.imap, Math.max(1, high - limit + 1), high)
      const messages = await fetchMessages(client, uids, plan)
      return { messages: messages.sort(newestFirst), total: box.exists }
    },
  })
}

function newestFirst(left: RemoteMessage, right: RemoteMessage): number {
  return (right.location?.uid ?? 0) - (left.location?.uid ?? 0)
}

function getBody(reads: AccountReads, location: MessageLocation): Promise<MessageBody> {
  const doing = 'reading a message'
  const query = { uid: true, internalDate: true, bodyStructure: true, bodyParts: [header] }
  return atMessage(
    reads,
    location,
    doing,
    async (imap, range) => {
      const row = await imap.fetchOne(range, query, { uid: true })
      // Without a row, the parser could not read it.
      if (!row) {
        await verify(reads, imap, location, doing)
        return sourceBody(imap, range)
      }
      requireSame(reads, row, location, doing)
      if (asBuffer(row.headers) === undefined) await ensurePresent(imap, range, doing)
      return (await structuredBody(imap, range, row)) ?? sourceBody(imap, range)
    },
    { verifiesItself: true },
  )
}

async function openRaw(reads: AccountReads, location: MessageLocation): Promise<RemoteContent> {
  const doing = 'reading a message'
  const sizeBytes = await atMessage(reads, location, doing, async (imap, range) => {
    const row = await imap.fetchOne(range, { uid: true, size: true, bodyParts: [firstByte] }, { uid: true })
    if (!row) throw notFound(doing)
    if (asBuffer(row.headers) === undefined) await ensurePresent(imap, range, doing)
    return row.size && (await endsAt(imap, range, row.size)) ? row.size : null
  })
  return {
    sizeBytes,
    async read({ from, length } = { from: 0 }) {
      const bytes = toStream(readChunks(reads, location, undefined, { from, length }))
      return length === undefined ? bytes : byteRange(bytes, { from: 0, length })
    },
  }
}

async function openAttachment(
  reads: AccountReads,
  location: MessageLocation,
  attachmentId: string,
): Promise<RemoteFile> {
  const doing = 'reading an attachment'
  const found = await atMessage(reads, location, doing, async (imap, range) => {
    const part = await findPart(imap, range, attachmentId)
    return part === undefined ? partOfSource(imap, range, attachmentId) : { part, content: undefined }
  })
  if (found === undefined) throw new ProviderError('not_found', `${doing}: the message has no such part`)
  const { part, content } = found
  return {
    contentType: fileType(part),
    filename: attachmentName(part),
    sizeBytes: null,
    async read(range) {
      const chunks = content === undefined ? readChunks(reads, location, part.id, { from: 0 }) : [content]
      const bytes = toStream(decode(chunks, part.encoding))
      return range === undefined ? bytes : byteRange(bytes, range)
    },
  }
}

function toStream(chunks: AsyncIterable<Buffer>): Readable {
  return Readable.from(chunks, { objectMode: false, highWaterMark: 1 })
}
