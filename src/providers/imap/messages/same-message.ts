import type { FetchMessageObject, FetchQueryObject, ImapFlow } from 'imapflow'
import { cleanText } from '../../../platform/formats/text.ts'
import type { MessageIdentity } from '../../contract/index.ts'
import { headerFields, parseHeaders } from '../../shared/mime/index.ts'
import { asBuffer } from './fetch.ts'
import { uidSet } from './uids.ts'

/** Data that a FETCH must contain for `isSameMessage`. */
export const identityQuery = { uid: true, internalDate: true, headers: ['message-id'] } satisfies FetchQueryObject

/** INTERNALDATE has seconds, and some servers round it in another way after a restart. */
const DATE_TOLERANCE_MS = 2000

/** False for another message than the stored one. Without Message-IDs, the dates decide. */
export function isSameMessage(row: FetchMessageObject, { messageId, receivedAt }: MessageIdentity): boolean {
  const block = asBuffer(row.headers)
  if (block === undefined) return true
  const found = headerFields(parseHeaders(block)).messageId
  if (found !== null || messageId !== null) return found !== null && cleanText(found) === messageId
  if (!(row.internalDate instanceof Date)) return true
  return Math.abs(row.internalDate.getTime() - receivedAt) <= DATE_TOLERANCE_MS
}

/** Whether the selected folder has none of these messages under another Message-ID or date. Deleted ones do not count. */
export async function hasSameMessages(
  imap: ImapFlow,
  messages: readonly { uid: number; identity: MessageIdentity }[],
): Promise<boolean> {
  const stored = new Map(messages.map(({ uid, identity }) => [uid, identity]))
  if (stored.size === 0) return true
  const range = uidSet([...stored.keys()].sort((left, right) => left - right))
  let isSame = true
  for await (const row of imap.fetch(range, identityQuery, { uid: true })) {
    const identity = stored.get(row.uid)
    if (identity !== undefined && !isSameMessage(row, identity)) isSame = false
  }
  return isSame
}
