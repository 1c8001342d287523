import { Readable } from 'node:stream'
import type { FetchMessageObject, ImapFlow, MailboxObject } from 'imapflow'
import type { Clock } from '../../lib/clock.ts'
import { cleanText } from '../../lib/text.ts'
import {
  type FolderLiveReads,
  type MessageBody,
  type MessageLocation,
  ProviderError,
  type RemoteMessage,
} from '../contract/index.ts'
import { attachmentName, parseHeaders } from '../mime/index.ts'
import { bytesOf, fetchMessages, listUids } from './fetch.ts'
import { listFolders } from './folders.ts'
import type { Lane } from './lane.ts'
import { decodeText, parseSource } from './message-text.ts'
import { isBodyText, type Leaf, leaves } from './structure.ts'
import { transferDecoder } from './transfer-decoding.ts'
import { uidValidityOf } from './uid-validity.ts'

/** What stands in memory of a message that is streamed. */
const CHUNK_BYTES = 512 * 1024
/** More of a text part is cut off: it is no longer text for people. */
const BODY_BYTES = 4 * 1024 * 1024
const HEADERS_BYTES = 1024 * 1024

/** Live reads over an account's operations connection. `lane()` answers the one of now: it may have been closed meanwhile. */
export function imapLiveReads(lane: () => Lane, clock: Clock): FolderLiveReads {
  function atMessage<T>(
    place: MessageLocation,
    doing: string,
    work: (imap: ImapFlow, range: string, box: MailboxObject) => Promise<T>,
  ): Promise<T> {
    return lane().useFolder(place.folderPath, {
      doing,
      async work({ imap }, box) {
        if (String(box.uidValidity) !== place.uidValidity) throw gone(doing)
        return work(imap, String(place.uid), box)
      },
    })
  }

  /** The part or the whole message, a piece at a time; between two pieces others use the connection. */
  async function* pieces(place: MessageLocation, part: string | undefined): AsyncGenerator<Buffer> {
    for (let start = 0; ; ) {
      const piece = await atMessage(place, 'reading a message', async (imap, range) => {
        const window = { start, maxLength: CHUNK_BYTES }
        const query = part === undefined ? { source: window } : { bodyParts: [{ key: part, ...window }] }
        const row = await imap.fetchOne(range, { uid: true, ...query }, { uid: true })
        if (!row) throw gone('reading a message')
        const bytes = bytesOf(part === undefined ? row.source : row.bodyParts?.get(part.toLowerCase()))
        // Past the end some servers answer NIL; at the beginning it means that the message has just gone.
        if (bytes === undefined && start === 0) throw gone('reading a message')
        return bytes ?? Buffer.alloc(0)
      })
      if (piece.length > 0) yield piece
      // A server that ignores the window answers everything at once.
      if (piece.length !== CHUNK_BYTES) return
      start += piece.length
    }
  }

  return {
    listFolders: () =>
      lane().use({
        doing: 'listing the folders',
        prepare: async () => {},
        work: ({ imap }) => listFolders(imap),
      }),

    listMessages: (folderPath, { limit, beforeUid, offset = 0 }) =>
      lane().useFolder(folderPath, {
        ...{ fresh: true, doing: 'listing messages' },
        async work(client, box) {
          const uidValidity = uidValidityOf(box)
          const top = beforeUid === undefined ? box.exists : await countBelow(client.imap, box.exists, beforeUid)
          const high = top - offset
          if (high < 1) return { messages: [], total: box.exists }
          const uids = await listUids(client.imap, { seq: `${Math.max(1, high - limit + 1)}:${high}` })
          const plan = {
            uidValidity,
            isNew: () => false,
            nowMs: clock.now(),
            lowUid: 1,
            limit,
          }
          const messages = await fetchMessages(client, uids, plan)
          return { messages: messages.sort(newestFirst), total: box.exists }
        },
      }),

    getBody: (place) =>
      atMessage(place, 'reading a message', async (imap, range) => {
        const row = await imap.fetchOne(range, { uid: true, bodyStructure: true, bodyParts: [header] }, { uid: true })
        if (row && bytesOf(row.headers) === undefined) throw gone('reading a message')
        if (!row) return unstructuredBody(imap, range)
        const parts = row.bodyStructure === undefined ? [] : leaves(row.bodyStructure)
        if (parts.length === 0) return unstructuredBody(imap, range)
        const text = await readTexts(
          imap,
          range,
          parts.filter((leaf) => isBodyText(leaf, 'text/plain')),
        )
        const html = await readTexts(
          imap,
          range,
          parts.filter((leaf) => isBodyText(leaf, 'text/html')),
        )
        return { text, html, headers: headersOf(row) }
      }),

    async openRaw(place) {
      const sizeBytes = await atMessage(place, 'reading a message', async (imap, range) => {
        const row = await imap.fetchOne(range, { uid: true, size: true, bodyParts: [firstByte] }, { uid: true })
        if (!row || bytesOf(row.headers) === undefined) throw gone('reading a message')
        return row.size ?? 0
      })
      return { sizeBytes, stream: Readable.from(pieces(place, undefined), { objectMode: false, highWaterMark: 1 }) }
    },

    async openAttachment(place, attachmentId) {
      const leaf = await atMessage(place, 'reading an attachment', async (imap, range) => {
        const row = await imap.fetchOne(range, { uid: true, bodyStructure: true }, { uid: true })
        const parts = row && row.bodyStructure !== undefined ? leaves(row.bodyStructure) : []
        const found = parts.find(({ part }) => part === attachmentId)
        if (!found) throw new ProviderError('not_found', 'reading an attachment: there is no such part')
        return found
      })
      return {
        contentType: cleanText(leaf.type),
        filename: attachmentName({ ...leaf, id: leaf.part }),
        stream: Readable.from(decoded(pieces(place, leaf.part), leaf), { objectMode: false, highWaterMark: 1 }),
      }
    },
  }
}

/** Of a text that no parser can read; the raw message is there for whoever wants to try. */
const nothing = { text: null, html: null }
const firstByte = { key: 'header', start: 0, maxLength: 1 }
const header = { key: 'header', start: 0, maxLength: HEADERS_BYTES }

function gone(doing: string): ProviderError {
  return new ProviderError('not_found', `${doing}: it is no longer in this folder`)
}

function newestFirst(left: RemoteMessage, right: RemoteMessage): number {
  return (right.location?.uid ?? 0) - (left.location?.uid ?? 0)
}

/** How many messages have a uid below this one: the position to go on from. By halving, so that nothing is listed whole. */
async function countBelow(imap: ImapFlow, exists: number, beforeUid: number): Promise<number> {
  let [low, high] = [0, exists]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const uid = (await listUids(imap, { seq: String(middle) }))[0]
    if (uid !== undefined && uid < beforeUid) low = middle
    else high = middle - 1
  }
  return low
}

async function readTexts(imap: ImapFlow, range: string, parts: readonly Leaf[]): Promise<string | null> {
  if (parts.length === 0) return null
  const texts: string[] = []
  for (const leaf of parts) {
    const query = { uid: true, bodyParts: [{ key: leaf.part, start: 0, maxLength: BODY_BYTES }] }
    const row = await imap.fetchOne(range, query, { uid: true })
    const content = bytesOf(row ? row.bodyParts?.get(leaf.part.toLowerCase()) : undefined)
    texts.push(content === undefined ? '' : decodeText(leaf, content).replaceAll('\r\n', '\n'))
  }
  return cleanText(texts.join('\n'))
}

/** A message without readable structure: its source is parsed here, as much of it as people read. */
async function unstructuredBody(imap: ImapFlow, range: string): Promise<MessageBody> {
  const query = { uid: true, source: { start: 0, maxLength: BODY_BYTES }, bodyParts: [header] }
  const row = await imap.fetchOne(range, query, { uid: true })
  if (!row) throw gone('reading a message')
  const { text, html } = await parseSource(bytesOf(row.source) ?? Buffer.alloc(0)).catch(() => nothing)
  return {
    text: text === null ? null : cleanText(text),
    html: html === null ? null : cleanText(html),
    headers: headersOf(row),
  }
}

function headersOf(row: FetchMessageObject): MessageBody['headers'] {
  return parseHeaders(bytesOf(row.headers) ?? Buffer.alloc(0))
}

async function* decoded(chunks: AsyncIterable<Buffer>, leaf: Leaf): AsyncGenerator<Buffer> {
  const decoder = transferDecoder(leaf.encoding)
  for await (const chunk of chunks) yield decoder.write(chunk)
  yield decoder.end()
}
