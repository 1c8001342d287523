import type { ImapFlow } from 'imapflow'
import { type Cursor, readCursor } from './cursor.ts'
import { providerError } from './errors.ts'
import { RECOMPARE_MS } from './pass.ts'

/** Whether a folder's STATUS differs from its cursor. A folder that is gone has not changed. */
export async function hasChanged(
  imap: ImapFlow,
  path: string,
  cursorText: string | null,
  { isClean, nowMs }: { isClean: boolean; nowMs: number },
): Promise<boolean> {
  const query = { messages: true, unseen: true, uidNext: true, uidValidity: true, highestModseq: true }
  const status = await imap.status(path, query).catch((error) => {
    if (providerError(error, '').kind === 'not_found') return false as const
    throw error
  })
  if (!status) return false
  const cursor = cursorText === null ? undefined : readable(cursorText)
  if (cursor === undefined || cursor.pending !== null) return true
  if (String(status.uidValidity) !== cursor.uidValidity) return true
  if (status.uidNext !== undefined && status.uidNext !== cursor.uidNext) return true
  if (cursor.modseq !== null && status.highestModseq !== undefined)
    return String(status.highestModseq) !== cursor.modseq
  const countsDiffer = status.messages !== cursor.exists || status.unseen !== cursor.unseen
  return countsDiffer || !isClean || nowMs - cursor.comparedAt > RECOMPARE_MS
}

/** A cursor that cannot be read counts as none: the reading that follows says what is wrong. */
function readable(text: string): Cursor | undefined {
  try {
    return readCursor(text)
  } catch {
    return undefined
  }
}
