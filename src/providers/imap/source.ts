import type { ImapFlow } from 'imapflow'

/** Of a message that has to be read whole, because its structure cannot be read. */
const MAX_SOURCE_BYTES = 8 * 1024 * 1024
/** Less than the limit of a literal. */
const CHUNK_BYTES = 1024 * 1024

export interface MessageSource {
  bytes: Buffer
  /** False when the message is longer than what is read. */
  isWhole: boolean
}

/** Reads a message of the selected folder from its beginning. Undefined when it does not exist. */
export async function readSource(imap: ImapFlow, uid: string): Promise<MessageSource | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  while (length < MAX_SOURCE_BYTES) {
    const source = { start: length, maxLength: CHUNK_BYTES }
    const row = await imap.fetchOne(uid, { uid: true, source }, { uid: true })
    const chunk: unknown = row ? row.source : undefined
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
  return { bytes: Buffer.concat(chunks), isWhole: length < MAX_SOURCE_BYTES }
}
