import { Readable } from 'node:stream'
import type { FetchMessageObject, ImapFlow, MailboxObject } from 'imapflow'
import { type ByteRange, byteRange } from '../../lib/byte-stream.ts'
import type { Clock } from '../../lib/clock.ts'
import { cleanText } from '../../lib/text.ts'
import {
  type FolderLiveReads,
  type MessageBody,
  type MessageLocation,
  ProviderError,
  type RemoteMessage,
} from '../contract/index.ts'
import { attachmentName, parseHeaders, transferDecoder } from '../mime/index.ts'
import { bytesOf, fetchMessages } from './fetch.ts'
import { listFolders, uidValidityOf } from './folders.ts'
import { decodeText, isBodyText, type Leaf, leaves, parseSource } from './parts.ts'
import type { RequestConnection } from './request-connection.ts'
import { searchUids } from './search.ts'
import { countBelow, uidsAt } from './uids.ts'
import type { WorkLimits } from './work-limits.ts'

/** How much of a streamed message is in memory. */
const CHUNK_BYTES = 512 * 1024
/** Cuts off longer text parts. */
const MAX_BODY_BYTES = 4 * 1024 * 1024
const MAX_HEADER_BYTES = 1024 * 1024

interface LiveReadOptions {
  clock: Clock
  /** For each read. A stream has as much for each chunk. */
  read: { deadlineMs: number; limits: WorkLimits }
}

/** Reads over an account's request connection. `connection` returns the current one, because an earlier one may have closed. */
export function imapLiveReads(connection: () => RequestConnection, { clock, read }: LiveReadOptions): FolderLiveReads {
  async function atMessage<T>(
    location: MessageLocation,
    doing: string,
    work: (imap: ImapFlow, range: string, box: MailboxObject) => Promise<T>,
  ): Promise<T> {
    const attempt = (fresh: boolean) =>
      connection().useFolder(location.folderPath, {
        ...{ ...read, doing, fresh },
        async work({ imap }, box) {
          if (String(box.uidValidity) !== location.uidValidity) throw notFound(doing)
          return work(imap, String(location.uid), box)
        },
      })
    try {
      return await attempt(false)
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
      // Servers show a message that arrived after the folder was selected only once it is selected again.
      return attempt(true)
    }
  }

  /** Reads from a part, or from the entire message, in chunks. Other tasks use the connection between two chunks. */
  async function* readChunks(
    location: MessageLocation,
    part: string | undefined,
    { from, length = Number.POSITIVE_INFINITY }: ByteRange,
  ): AsyncGenerator<Buffer> {
    const doing = 'reading a message'
    for (let start = from; start < from + length; ) {
      const window = { start, maxLength: Math.min(CHUNK_BYTES, from + length - start) }
      const chunk = await atMessage(location, doing, async (imap, range) => {
        const query = part === undefined ? { source: window } : { bodyParts: [{ key: part, ...window }] }
        const row = await imap.fetchOne(range, { uid: true, ...query }, { uid: true })
        if (!row) throw notFound(doing)
        const bytes = bytesOf(part === undefined ? row.source : row.bodyParts?.get(part.toLowerCase()))
        // Some servers return NIL past the end, too.
        if (bytes === undefined && start === 0) await ensurePresent(imap, range, doing)
        return bytes ?? Buffer.alloc(0)
      })
      if (chunk.length > 0) yield chunk
      // A server that ignores the window returns everything at once.
      if (chunk.length !== window.maxLength) return
      start += chunk.length
    }
  }

  const streamOf = (chunks: AsyncIterable<Buffer>) => Readable.from(chunks, { objectMode: false, highWaterMark: 1 })

  return {
    listFolders: () =>
      connection().use({
        ...read,
        doing: 'listing the folders',
        prepare: async () => {},
        work: (client) => listFolders(client),
      }),

    listMessages: (folderPath, { limit, beforeUid, offset = 0, search }) =>
      connection().useFolder(folderPath, {
        ...{ ...read, fresh: true, doing: 'listing messages' },
        async work(client, box) {
          const uidValidity = uidValidityOf(box)
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
      }),

    readMessage({ folderPath, uidValidity, uid }) {
      const doing = 'reading a message'
      return connection().useFolder(folderPath, {
        ...{ ...read, doing, fresh: true },
        async work(client, box) {
          if (String(box.uidValidity) !== uidValidity) throw notFound(doing)
          const plan = { uidValidity, isNew: () => false, nowMs: clock.now(), lowUid: 1, limit: 1 }
          const [message] = await fetchMessages(client, [uid], plan)
          if (message === undefined) throw notFound(doing)
          return message
        },
      })
    },

    getBody: (location) =>
      atMessage(location, 'reading a message', async (imap, range) => {
        const row = await imap.fetchOne(range, { uid: true, bodyStructure: true, bodyParts: [header] }, { uid: true })
        if (row && bytesOf(row.headers) === undefined) await ensurePresent(imap, range, 'reading a message')
        const parts = row && row.bodyStructure !== undefined ? leaves(row.bodyStructure) : []
        if (!row || parts.length === 0) return unstructuredBody(imap, range)
        const textOf = (type: 'text/plain' | 'text/html') =>
          readTexts(
            imap,
            range,
            parts.filter((leaf) => isBodyText(leaf, type)),
          )
        return { text: await textOf('text/plain'), html: await textOf('text/html'), headers: headersOf(row) }
      }),

    async openRaw(location) {
      const sizeBytes = await atMessage(location, 'reading a message', async (imap, range) => {
        const row = await imap.fetchOne(range, { uid: true, size: true, bodyParts: [firstByte] }, { uid: true })
        if (!row) throw notFound('reading a message')
        if (bytesOf(row.headers) === undefined) await ensurePresent(imap, range, 'reading a message')
        return row.size && (await endsAt(imap, range, row.size)) ? row.size : null
      })
      return {
        sizeBytes,
        async read({ from, length } = { from: 0 }) {
          const bytes = streamOf(readChunks(location, undefined, { from, length }))
          return length === undefined ? bytes : byteRange(bytes, { from: 0, length })
        },
      }
    },

    async openAttachment(location, attachmentId) {
      const leaf = await atMessage(location, 'reading an attachment', async (imap, range) => {
        const row = await imap.fetchOne(range, { uid: true, bodyStructure: true }, { uid: true })
        const parts = row && row.bodyStructure !== undefined ? leaves(row.bodyStructure) : []
        const found = parts.find(({ part }) => part === attachmentId)
        if (!found) throw new ProviderError('not_found', 'reading an attachment: the message has no such part')
        return found
      })
      return {
        contentType: cleanText(leaf.type),
        filename: attachmentName({ ...leaf, id: leaf.part }),
        sizeBytes: null,
        async read(range) {
          const bytes = streamOf(decode(readChunks(location, leaf.part, { from: 0 }), leaf))
          return range === undefined ? bytes : byteRange(bytes, range)
        },
      }
    },
  }
}

/** Whether the message has exactly this size. Some servers, such as Exchange, only estimate RFC822.SIZE. */
async function endsAt(imap: ImapFlow, range: string, sizeBytes: number): Promise<boolean> {
  const source = { start: sizeBytes - 1, maxLength: 2 }
  const row = await imap.fetchOne(range, { uid: true, source }, { uid: true })
  return bytesOf(row ? row.source : undefined)?.length === 1
}

const firstByte = { key: 'header', start: 0, maxLength: 1 }
const header = { key: 'header', start: 0, maxLength: MAX_HEADER_BYTES }

function notFound(doing: string): ProviderError {
  return new ProviderError('not_found', `${doing}: it is no longer in this folder`)
}

/** NIL is an empty part, or that of a message that was just deleted, which the server reports with the NOOP. */
async function ensurePresent(imap: ImapFlow, range: string, doing: string): Promise<void> {
  await imap.noop()
  if (!(await imap.fetchOne(range, { uid: true, flags: true }, { uid: true }))) throw notFound(doing)
}

function newestFirst(left: RemoteMessage, right: RemoteMessage): number {
  return (right.location?.uid ?? 0) - (left.location?.uid ?? 0)
}

async function readTexts(imap: ImapFlow, range: string, parts: readonly Leaf[]): Promise<string | null> {
  if (parts.length === 0) return null
  const texts: string[] = []
  for (const leaf of parts) {
    const query = { uid: true, bodyParts: [{ key: leaf.part, start: 0, maxLength: MAX_BODY_BYTES }] }
    const row = await imap.fetchOne(range, query, { uid: true })
    const content = bytesOf(row ? row.bodyParts?.get(leaf.part.toLowerCase()) : undefined)
    texts.push(content === undefined ? '' : decodeText(leaf, content).replaceAll('\r\n', '\n'))
  }
  return cleanText(texts.join('\n'))
}

/** For a message without readable structure: parses the beginning of its source. Text that no parser can read stays null. */
async function unstructuredBody(imap: ImapFlow, range: string): Promise<MessageBody> {
  const query = { uid: true, source: { start: 0, maxLength: MAX_BODY_BYTES }, bodyParts: [header] }
  const row = await imap.fetchOne(range, query, { uid: true })
  if (!row) throw notFound('reading a message')
  const source = bytesOf(row.source) ?? Buffer.alloc(0)
  const { text, html } = await parseSource(source)
  return {
    text: text === null ? null : cleanText(text),
    html: html === null ? null : cleanText(html),
    headers: headersOf(row),
  }
}

function headersOf(row: FetchMessageObject): MessageBody['headers'] {
  return parseHeaders(bytesOf(row.headers) ?? Buffer.alloc(0))
}

async function* decode(chunks: AsyncIterable<Buffer>, leaf: Leaf): AsyncGenerator<Buffer> {
  const decoder = transferDecoder(leaf.encoding)
  for await (const chunk of chunks) yield decoder.write(chunk)
  yield decoder.end()
}
