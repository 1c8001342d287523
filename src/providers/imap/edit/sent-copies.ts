import type { CopyRef, MessageLocation, SentCopies } from '../../contract/index.ts'
import { headerValue, parseHeaders, SENT_TOKEN_HEADER } from '../../shared/mime/index.ts'
import type { ImapClient } from '../connection/client.ts'
import type { RequestConnection } from '../connection/request-connection.ts'
import type { WorkLimits } from '../connection/work-limits.ts'
import { connectionLost } from '../errors.ts'
import { listFolders } from '../folders/folders.ts'
import { appendMessage } from './append.ts'
import { markAnswered } from './edits.ts'

const DAY_MS = 24 * 60 * 60_000
/** Where the server names no Sent folder. */
const DEFAULT_FOLDER = 'Sent'
/** Messages of other clients that may have arrived in Sent since ours were sent. */
const OTHER_MESSAGES = 100

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
    work: (client: ImapClient, folder: string) => Promise<T>,
  ): Promise<T> {
    const task = connection().use({
      ...limits,
      doing,
      signal,
      prepare: async (client) => {
        path ??= await sentFolder(client)
        return path
      },
      work,
    })
    return task.catch((error: unknown) => {
      path = undefined
      throw error
    })
  }

  return {
    contains: (message, signal) =>
      inSent('searching Sent', signal, (client, folder) => contains(client, folder, message)),

    count: (messages, signal) =>
      inSent('reading Sent', signal, (client, folder) => countCopies(client, folder, messages)),

    async save(message, signal) {
      const chunks: Buffer[] = []
      for await (const chunk of message.bytes()) chunks.push(chunk)
      const content = Buffer.concat(chunks)
      let { mayExist } = message
      await inSent('saving the sent message', signal, async (client, folder) => {
        if (mayExist && (await contains(client, folder, message))) return
        // The task is repeated when the connection breaks, perhaps after the server has done it.
        mayExist = true
        await appendMessage(client, { path: folder, content, flags: ['\\Seen'], date: new Date(message.sentAt) })
      })
    },

    markAnswered: (message: MessageLocation, signal) => markAnswered(connection, message, { ...limits, signal }),
  }
}

/** Searches the messages of the last days: a header is in no index of most servers. */
async function contains(
  { imap, folders }: ImapClient,
  folder: string,
  { rfcMessageId, sentAt }: { rfcMessageId: string; sentAt: number },
): Promise<boolean> {
  await folders.open(folder, { fresh: true })
  const since = new Date(sentAt - 2 * DAY_MS)
  const found = await imap.search({ since, header: { 'message-id': rfcMessageId } }, { uid: true })
  if (!found) throw connectionLost('searching Sent: the server refused the search')
  return found.length > 0
}

const TOKEN_HEADER = SENT_TOKEN_HEADER.toLowerCase()

/** Reads two header fields of the newest messages, because searching a header takes most servers long. */
async function countCopies(
  { imap, folders }: ImapClient,
  folder: string,
  messages: readonly CopyRef[],
): Promise<number[]> {
  const { exists } = await folders.open(folder, { fresh: true })
  const counts = messages.map(() => 0)
  if (exists === 0) return counts
  const first = Math.max(1, exists - messages.length - OTHER_MESSAGES + 1)
  const query = { uid: true, headers: ['message-id', TOKEN_HEADER] }
  for await (const row of imap.fetch(`${first}:*`, query)) {
    const headers = parseHeaders(row.headers ?? Buffer.alloc(0))
    const [messageId, token] = [headerValue(headers, 'message-id'), headerValue(headers, TOKEN_HEADER)]
    messages.forEach(({ rfcMessageId, sentToken }, index) => {
      if (messageId === rfcMessageId || token === sentToken) counts[index] = (counts[index] ?? 0) + 1
    })
  }
  return counts
}

async function sentFolder(client: ImapClient): Promise<string> {
  const folders = await listFolders(client)
  const sent = folders.find(({ role, selectable }) => role === 'sent' && selectable)
  if (sent !== undefined) return sent.path
  const { path } = await client.imap.mailboxCreate(DEFAULT_FOLDER)
  await client.imap.mailboxSubscribe(path)
  return path
}
