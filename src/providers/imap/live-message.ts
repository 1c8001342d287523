import type { FetchMessageObject, ImapFlow } from 'imapflow'
import type { ByteRange } from '../../platform/concurrency/byte-stream.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type MessageLocation, ProviderError, type RemoteMessage } from '../contract/index.ts'
import type { ImapClient } from './connection/client.ts'
import type { RequestConnection } from './connection/request-connection.ts'
import type { WorkLimits } from './connection/work-limits.ts'
import { asBuffer, type FetchPlan } from './messages/fetch.ts'
import { ensurePresent, notFound } from './messages/live-parts.ts'
import { identityQuery, isSameMessage } from './messages/same-message.ts'

/** How much of a streamed message is in memory. */
const CHUNK_BYTES = 512 * 1024

export interface LiveReadOptions {
  clock: Clock
  /** For each read. A stream has as much for each chunk. */
  read: { deadlineMs: number; limits: WorkLimits }
  /** Called when another message was found under the UID of a stored one. */
  onOtherMessage(folderPath: string): void
}

/** The reads of one account. */
export interface AccountReads extends LiveReadOptions {
  /** Returns the current connection, because an earlier one may have closed. */
  connection(): RequestConnection
  /** The last verified message of each connection: the chunks of a long one follow. */
  verified: WeakMap<ImapFlow, string>
}

type FetchByUid = (client: ImapClient, uids: readonly number[], plan: FetchPlan) => Promise<RemoteMessage[]>

/** Runs work with the folder of the message selected, once the UID is known to name the same message still. */
export async function atMessage<T>(
  { connection, read, ...reads }: AccountReads,
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
        if (!verifiesItself) await verify(reads, imap, location, doing)
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

export async function verify(
  reads: Pick<AccountReads, 'verified' | 'onOtherMessage'>,
  imap: ImapFlow,
  location: MessageLocation,
  doing: string,
): Promise<void> {
  const { verified } = reads
  const key = `${location.folderPath} ${location.uidValidity} ${location.uid}`
  if (location.identity === undefined || verified.get(imap) === key) return
  const row = await imap.fetchOne(String(location.uid), identityQuery, { uid: true })
  if (row) requireSame(reads, row, location, doing)
  verified.set(imap, key)
}

/** Throws `not_found` when the row is another message than the stored one. */
export function requireSame(
  { onOtherMessage }: Pick<AccountReads, 'onOtherMessage'>,
  row: FetchMessageObject,
  { identity, folderPath }: MessageLocation,
  doing: string,
): void {
  if (identity === undefined || isSameMessage(row, identity)) return
  onOtherMessage(folderPath)
  throw notFound(doing)
}

export function fetchOne(
  { connection, clock, read }: AccountReads,
  { folderPath, uidValidity, uid }: MessageLocation,
  fetch: FetchByUid,
): Promise<RemoteMessage> {
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

/** Reads from a part, or from the entire message, in chunks. Other tasks use the connection between two chunks. */
export async function* readChunks(
  reads: AccountReads,
  location: MessageLocation,
  part: string | undefined,
  { from, length = Number.POSITIVE_INFINITY }: ByteRange,
): AsyncGenerator<Buffer> {
  const doing = 'reading a message'
  for (let start = from; start < from + length; ) {
    const window = { start, maxLength: Math.min(CHUNK_BYTES, from + length - start) }
    const chunk = await atMessage(reads, location, doing, async (imap, range) => {
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
