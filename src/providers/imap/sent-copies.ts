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
  limits: { deadlineMs: number; limits: WorkLimits },
): SentCopies {
  /** Known from the first task on, until one fails. */
  let path: string | undefined

  async function inSent<T>(
    doing: string,
    signal: AbortSignal,
    work: (client: ImapFlow, folder: string) => Promise<T>,
  ): Promise<T> {
    const task = connection().use({
      ...{ ...limits, doing, signal },
      prepare: async (client) => {
        path ??= await sentFolder(client)
        return path
      },
      work: ({ imap }, folder) => work(imap, folder),
    })
    return task.catch((error: unknown) => {
      path = undefined
      throw error
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
      let { mayExist } = message
      await inSent('saving the sent message', signal, async (imap, folder) => {
        if (mayExist && (await contains(imap, folder, message))) return
        // The task is repeated when the connection breaks, perhaps after the server has done it.
        mayExist = true
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
