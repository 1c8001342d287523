import type { ImapFlow } from 'imapflow'
import type { SentCopies } from '../contract/index.ts'
import type { ImapClient } from './client.ts'
import { connectionLost } from './errors.ts'
import { listFolders } from './folders.ts'
import type { RequestConnection } from './request-connection.ts'
import type { WorkLimits } from './work-limits.ts'

const DAY_MS = 24 * 60 * 60_000
/** Where the server names no Sent folder. */
const DEFAULT_FOLDER = 'Sent'

/** Writes to Sent over the account's request connection. `connection` returns the current one. */
export function imapSentCopies(
  connection: () => RequestConnection,
  task: { deadlineMs: number; limits: WorkLimits },
): SentCopies {
  async function inSent<T>(
    doing: string,
    signal: AbortSignal,
    work: (client: ImapFlow, folder: string) => Promise<T>,
  ): Promise<T> {
    return connection().use({
      ...{ ...task, doing, signal },
      prepare: async (client) => sentFolder(client),
      work: ({ imap }, folder) => work(imap, folder),
    })
  }

  /** Searches the messages of the last days: a header is in no index of most servers. */
  async function contains(
    imap: ImapFlow,
    folder: string,
    { rfcMessageId, sentAt }: { rfcMessageId: string; sentAt: number },
  ) {
    await imap.mailboxOpen(folder, { readOnly: true })
    const since = new Date(sentAt - 2 * DAY_MS)
    const found = await imap.search({ since, header: { 'message-id': rfcMessageId } }, { uid: true })
    if (!found) throw connectionLost('searching Sent: the server refused the search')
    return found.length > 0
  }

  return {
    contains: (message, signal) => inSent('searching Sent', signal, (imap, folder) => contains(imap, folder, message)),

    async save(message, signal) {
      const chunks: Buffer[] = []
      for await (const chunk of message.bytes()) chunks.push(chunk)
      const content = Buffer.concat(chunks)
      // The search comes first in the same task: an APPEND whose connection broke may have succeeded.
      await inSent('saving the sent message', signal, async (imap, folder) => {
        if (await contains(imap, folder, message)) return
        await imap.append(folder, content, ['\\Seen'], new Date(message.sentAt))
      })
    },
  }
}

async function sentFolder(client: ImapClient): Promise<string> {
  const folders = await listFolders(client)
  const known = folders.find(({ role, selectable }) => role === 'sent' && selectable)
  if (known !== undefined) return known.path
  const { path } = await client.imap.mailboxCreate(DEFAULT_FOLDER)
  await client.imap.mailboxSubscribe(path)
  return path
}
