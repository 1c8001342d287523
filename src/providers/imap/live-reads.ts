import { Readable } from 'node:stream'
import type { FetchMessageObject, ImapFlow } from 'imapflow'
import { type ByteRange, byteRange } from '../../platform/concurrency/byte-stream.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type FolderLiveReads,
  type MessageBody,
  type MessageLocation,
  ProviderError,
  type RemoteMessage,
} from '../contract/index.ts'
import {
  allParts,
  attachmentName,
  bodyPlan,
  composedBody,
  declaredCharset,
  describePart,
  fileType,
  headerValue,
  type Part,
  parseHeaders,
  partText,
  readMessage,
  transferDecoder,
} from '../shared/mime/index.ts'
import type { ImapClient } from './connection/client.ts'
import type { RequestConnection } from './connection/request-connection.ts'
import type { WorkLimits } from './connection/work-limits.ts'
import { listFolders, requireUidValidity } from './folders/folders.ts'
import { asBuffer, describeMessages, type FetchPlan, fetchMessages } from './messages/fetch.ts'
import { identityQuery, isSameMessage } from './messages/identity.ts'
import { readSource } from './messages/source.ts'
import { isUnsplit, structureParts } from './messages/structure.ts'
import { countBelow, uidsAt } from './messages/uids.ts'
import { searchUids } from './search.ts'

/** How much of a streamed message is in memory. */
const CHUNK_BYTES = 512 * 1024
/** Cuts off longer text parts. */
const MAX_BODY_BYTES = 4 * 1024 * 1024
const MAX_HEADER_BYTES = 1024 * 1024
const MAX_PART_HEADER_BYTES = 64 * 1024
/** Text parts that are read; further ones are left out. */
const MAX_TEXTS = 100

interface LiveReadOptions {
  clock: Clock
  /** For each read. A stream has as much for each chunk. */
  read: { deadlineMs: number; limits: WorkLimits }
  /** Called when another message was found under the UID of a stored one. */
  onOtherMessage(folderPath: string): void
}

type FetchByUid = (client: ImapClient, uids: readonly number[], plan: FetchPlan) => Promise<RemoteMessage[]>

/** Reads over an account's request connection. `connection` returns the current one, because an earlier one may have closed. */
export function imapLiveReads(
  connection: () => RequestConnection,
  { clock, read, onOtherMessage }: LiveReadOptions,
): FolderLiveReads {
  /** The last verified message of each connection: the chunks of a long one follow. */
  const verified = new WeakMap<ImapFlow, string>()

  function requireSame(row: FetchMessageObject, { identity, folderPath }: MessageLocation, doing: string): void {
    if (identity === undefined || isSameMessage(row, identity)) return
    onOtherMessage(folderPath)
    throw notFound(doing)
  }

  async function verify(imap: ImapFlow, location: MessageLocation, doing: string): Promise<void> {
    const key = `${location.folderPath} ${location.uidValidity} ${location.uid}`
    if (location.identity === undefined || verified.get(imap) === key) return
    const row = await imap.fetchOne(String(location.uid), identityQuery, { uid: true })
    if (row) requireSame(row, location, doing)
    verified.set(imap, key)
  }

  async function atMessage<T>(
    location: MessageLocation,
    doing: string,
    work: (imap: ImapFlow, range: string) => Promise<T>,
    { verifiesItself = false } = {},
  ): Promise<T> {
    const attempt = (fresh: boolean) =>
      connection().useFolder(location.folderPath, {
        ...read,
        doing,
        fresh,
        uidValidity: location.uidValidity,
        async work({ imap }, box) {
          if (String(box.uidValidity) !== location.uidValidity) throw notFound(doing)
          if (!verifiesItself) await verify(imap, location, doing)
          return work(imap, String(location.uid))
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
        const bytes = asBuffer(part === undefined ? row.source : row.bodyParts?.get(part.toLowerCase()))
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

  function fetchOne({ folderPath, uidValidity, uid }: MessageLocation, fetch: FetchByUid): Promise<RemoteMessage> {
    const doing = 'reading a message'
    return connection().useFolder(folderPath, {
      ...read,
      doing,
      fresh: true,
      uidValidity,
      async work(client, box) {
        if (String(box.uidValidity) !== uidValidity) throw notFound(doing)
        const plan = { uidValidity, isNew: () => false, nowMs: clock.now(), lowUid: 1, limit: 1 }
        const [message] = await fetch(client, [uid], plan)
        if (message === undefined) throw notFound(doing)
        return message
      },
    })
  }

  const toStream = (chunks: AsyncIterable<Buffer>) => Readable.from(chunks, { objectMode: false, highWaterMark: 1 })

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
      }),

    readMessage: (message) => fetchOne(message, fetchMessages),

    describeMessage: (message) => fetchOne(message, describeMessages),

    getBody(location) {
      const doing = 'reading a message'
      const query = { uid: true, internalDate: true, bodyStructure: true, bodyParts: [header] }
      const work = async (imap: ImapFlow, range: string) => {
        const row = await imap.fetchOne(range, query, { uid: true })
        // Without a row, the parser could not read it.
        if (!row) {
          await verify(imap, location, doing)
          return sourceBody(imap, range)
        }
        requireSame(row, location, doing)
        if (asBuffer(row.headers) === undefined) await ensurePresent(imap, range, doing)
        return (await structuredBody(imap, range, row)) ?? sourceBody(imap, range)
      }
      return atMessage(location, doing, work, { verifiesItself: true })
    },

    async openRaw(location) {
      const sizeBytes = await atMessage(location, 'reading a message', async (imap, range) => {
        const row = await imap.fetchOne(range, { uid: true, size: true, bodyParts: [firstByte] }, { uid: true })
        if (!row) throw notFound('reading a message')
        if (asBuffer(row.headers) === undefined) await ensurePresent(imap, range, 'reading a message')
        return row.size && (await endsAt(imap, range, row.size)) ? row.size : null
      })
      return {
        sizeBytes,
        async read({ from, length } = { from: 0 }) {
          const bytes = toStream(readChunks(location, undefined, { from, length }))
          return length === undefined ? bytes : byteRange(bytes, { from: 0, length })
        },
      }
    },

    async openAttachment(location, attachmentId) {
      const found = await atMessage(location, 'reading an attachment', async (imap, range) => {
        const part = await findPart(imap, range, attachmentId)
        return part === undefined ? partOfSource(imap, range, attachmentId) : { part, content: undefined }
      })
      if (found === undefined)
        throw new ProviderError('not_found', 'reading an attachment: the message has no such part')
      const { part, content } = found
      return {
        contentType: fileType(part),
        filename: attachmentName(part),
        sizeBytes: null,
        async read(range) {
          const chunks = content === undefined ? readChunks(location, part.id, { from: 0 }) : [content]
          const bytes = toStream(decode(chunks, part.encoding))
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
  return asBuffer(row ? row.source : undefined)?.length === 1
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

/** Undefined for a message without readable structure. */
async function structuredBody(
  imap: ImapFlow,
  range: string,
  row: FetchMessageObject,
): Promise<MessageBody | undefined> {
  if (row.bodyStructure === undefined) return undefined
  const block = asBuffer(row.headers) ?? Buffer.alloc(0)
  const described = structureParts(row.bodyStructure)
  if (isUnsplit(described)) return undefined
  const headers = parseHeaders(block, declaredCharset(described))
  const root = described.children.length > 0 ? described : describePart(headers, { ...described, children: [] })
  const plan = bodyPlan(root)
  const texts = new Map<string, string>()
  for (const part of new Set([...plan.text, ...plan.html].slice(0, MAX_TEXTS))) {
    const query = { uid: true, bodyParts: [{ key: part.id, start: 0, maxLength: MAX_BODY_BYTES }] }
    const found = await imap.fetchOne(range, query, { uid: true })
    const content = asBuffer(found ? found.bodyParts?.get(part.id.toLowerCase()) : undefined)
    texts.set(part.id, content === undefined ? '' : partText(part, content))
  }
  return { ...composedBody(plan, ({ id }) => texts.get(id) ?? ''), headers }
}

/** For a message without readable structure: what its beginning contains. */
async function sourceBody(imap: ImapFlow, range: string): Promise<MessageBody> {
  const source = await readSource(imap, range)
  if (source === undefined) throw notFound('reading a message')
  const { body, headers } = await readMessage(source.bytes, source)
  return { ...body, headers }
}

interface FoundPart {
  part: Part
  /** As it is stored, where the structure cannot be read. */
  content: Buffer | undefined
}

/** A part by its number, with what its own header says. Undefined when the structure has none, or cannot be read. */
async function findPart(imap: ImapFlow, range: string, id: string): Promise<Part | undefined> {
  const sections = [header, { key: `${id}.mime`, start: 0, maxLength: MAX_PART_HEADER_BYTES }]
  const row = await imap.fetchOne(range, { uid: true, bodyStructure: true, bodyParts: sections }, { uid: true })
  if (!row || row.bodyStructure === undefined) return undefined
  const root = structureParts(row.bodyStructure)
  const part = allParts(root).find((part) => part.id === id && part.children.length === 0)
  const block = part === root ? asBuffer(row.headers) : asBuffer(row.bodyParts?.get(`${id}.mime`))
  if (part === undefined || block === undefined) return part
  const headers = parseHeaders(block, declaredCharset(root))
  return headerValue(headers, 'content-type') === undefined ? part : describePart(headers, { ...part, children: [] })
}

async function partOfSource(imap: ImapFlow, range: string, id: string): Promise<FoundPart | undefined> {
  const source = await readSource(imap, range)
  if (source === undefined) throw notFound('reading an attachment')
  return (await readMessage(source.bytes, source)).find(id)
}

async function* decode(chunks: AsyncIterable<Buffer> | Iterable<Buffer>, encoding: string): AsyncGenerator<Buffer> {
  const decoder = transferDecoder(encoding)
  for await (const chunk of chunks) yield decoder.write(chunk)
  yield decoder.end()
}
