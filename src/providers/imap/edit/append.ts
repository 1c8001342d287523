import type { AppendResponseObject } from 'imapflow'
import type { ImapClient } from '../connection/client.ts'
import { connectionLost } from '../errors.ts'

interface Appended {
  path: string
  content: Buffer
  flags: string[]
  /** The INTERNALDATE. Absent: now. */
  date?: Date
}

/**
 * Adds a message to a folder. Leaves a folder that is open read-only first, because Courier refuses to add to it then; nothing is expunged
 * by that. Throws what `providerError` maps.
 */
export async function appendMessage(
  { imap }: ImapClient,
  { path, content, flags, date }: Appended,
): Promise<AppendResponseObject> {
  const selected = imap.mailbox || undefined
  if (selected?.readOnly) await imap.mailboxClose()
  const saved = await imap.append(path, content, flags, date)
  if (saved === false) throw connectionLost('adding a message to a folder: the connection was lost')
  return saved
}
