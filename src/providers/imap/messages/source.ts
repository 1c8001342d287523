import type { ImapFlow } from 'imapflow'

/** A longer message without readable structure is read in part. */
const MAX_SOURCE_BYTES = 8 * 1024 * 1024
/** A longer header is cut. */
const MAX_HEADER_BYTES = 1024 * 1024
/** Less than the limit of a literal on a sync connection. */
const CHUNK_BYTES = 128 * 1024

export interface MessageSource {
  bytes: Buffer
  /** False when the message is longer than what is read. */
  isWhole: boolean
}

/** Reads a message of the selected folder from its beginning. Undefined when it does not exist. */
export function readSource(imap: ImapFlow, uid: string): Promise<MessageSource | undefined> {
  return readInChunks(MAX_SOURCE_BYTES, async (window) => {
    const row = await imap.fetchOne(uid, { uid: true, source: window }, { uid: true })
    return row ? row.source : undefined
  })
}

/** Reads the header of a message of the selected folder. Undefined when it does not exist. */
export async function readHeader(imap: ImapFlow, uid: string): Promise<Buffer | undefined> {
  const read = await readInChunks(MAX_HEADER_BYTES, async (window) => {
    const row = await imap.fetchOne(uid, { uid: true, bodyParts: [{ key: 'header', ...window }] }, { uid: true })
    return row ? row.headers : undefined
  })
  return read?.bytes
}

async function readInChunks(
  maxBytes: number,
  fetch: (window: { start: number; maxLength: number }) => Promise<unknown>,
): Promise<MessageSource | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  while (length < maxBytes) {
    const chunk = await fetch({ start: length, maxLength: CHUNK_BYTES })
    if (!Buffer.isBuffer(chunk)) {
      // Some servers return NIL past the end.
      if (length === 0) return undefined
      break
    }
    chunks.push(chunk)
    length += chunk.length
    // A server that ignores the window returns everything at once.
    if (chunk.length !== CHUNK_BYTES) break
  }
  return { bytes: Buffer.concat(chunks), isWhole: length < maxBytes }
}
