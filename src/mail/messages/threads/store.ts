import { sql } from 'kysely'
import { type Handle, padded } from '../../../platform/db/index.ts'
import type { PageRequest } from '../../../platform/formats/pagination.ts'
import { addToGroup, groupBy } from '../../../platform/group-by.ts'
import type { RemoteAddress } from '../../../providers/contract/index.ts'
import { labelStore } from '../../labels/index.ts'
import { parseFields } from '../rows/row.ts'
import { isAllMail, type MessageRow, messageStore } from '../store.ts'
import { threadNaming } from './references.ts'

export interface ThreadSummary {
  threadId: string
  subject: string
  snippet: string
  participants: RemoteAddress[]
  messageCount: number
  unreadCount: number
  starred: boolean
  hasAttachments: boolean
  labelIds: string[]
  firstReceivedAt: number
  lastReceivedAt: number
}

interface Sums {
  id: string
  threadId: string
  place: number
  messageCount: number
  unreadCount: number
  starred: number
  hasAttachments: number
  firstReceivedAt: number
  lastReceivedAt: number
}

/** Bounds what a page reads of long threads. */
const NEWEST = 20

/** Reads threads; `messageWriter` keeps their lists. */
export function threadStore(handle: Handle) {
  return {
    /** The threads with messages of this label, by the newest of these. One more than the limit when there is one. */
    async page(
      labelId: string,
      { after, limit, offset }: PageRequest<readonly [lastReceivedAt: number, threadId: string]>,
    ): Promise<{ threadId: string; lastReceivedAt: number }[]> {
      return handle
        .selectFrom('threadLabels')
        .select(['threadId', 'lastReceivedAt'])
        .where('labelId', '=', labelId)
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`("lastReceivedAt", "threadId") < (${after?.[0]}, ${after?.[1]})`),
        )
        .orderBy('lastReceivedAt', 'desc')
        .orderBy('threadId', 'desc')
        .limit(limit + 1)
        .offset(offset)
        .execute()
    },

    async count(accountId: string, labelId: string): Promise<number> {
      const row = await handle
        .selectFrom('messageCounters')
        .select('threads')
        .where('accountId', '=', accountId)
        .where('labelId', '=', labelId)
        .executeTakeFirst()
      return row?.threads ?? 0
    },

    /** In the order of `threadIds`, without unknown ones. */
    async summaries(accountId: string, threadIds: readonly string[]): Promise<ThreadSummary[]> {
      if (threadIds.length === 0) return []
      // From the index alone: sums over all messages, and the ids of the newest ones.
      const { rows } = await sql<Sums>`select * from (
        select "id", "threadId", row_number() over "newest" as "place", count(*) over "all" as "messageCount",
          sum("unread") over "all" as "unreadCount", max("starred") over "all" as "starred",
          max("hasAttachments") over "all" as "hasAttachments",
          min("receivedAt") over "all" as "firstReceivedAt", max("receivedAt") over "all" as "lastReceivedAt"
        from "messages" where "threadId" in (${sql.join(padded(threadIds))}) and "goneAt" is null
        window "all" as (partition by "threadId"),
          "newest" as (partition by "threadId" order by "receivedAt" desc, "id" desc)
      ) as "sums" where "place" <= ${NEWEST} order by "place"`.execute(handle)
      const contents = await readContents(rows.map((row) => row.id))
      const labels = await readLabels(accountId, threadIds)
      const byThread = groupBy(rows, (row) => row.threadId)
      return threadIds.flatMap((threadId) => {
        const [newest, ...others] = byThread.get(threadId) ?? []
        const content = contents.get(newest?.id ?? '')
        if (newest === undefined || content === undefined) return []
        const addresses = [newest, ...others].flatMap(({ id }) => readAddresses(contents.get(id)?.fields))
        return {
          threadId,
          subject: content.subject,
          snippet: content.snippet,
          participants: distinct(addresses),
          messageCount: Number(newest.messageCount),
          unreadCount: Number(newest.unreadCount),
          starred: newest.starred === 1,
          hasAttachments: newest.hasAttachments === 1,
          labelIds: labels.get(threadId) ?? [],
          firstReceivedAt: newest.firstReceivedAt,
          lastReceivedAt: newest.lastReceivedAt,
        }
      })
    },

    /** The messages of a thread, newest first; one more than the limit when there is one. */
    messages(
      accountId: string,
      threadId: string,
      { after, limit, offset }: PageRequest<readonly [receivedAt: number, messageId: string]>,
    ): Promise<{ id: string; receivedAt: number }[]> {
      return handle
        .selectFrom('messages')
        .select(['id', 'receivedAt'])
        .where('threadId', '=', threadId)
        .where('goneAt', 'is', null)
        .where('accountId', '=', accountId)
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`("receivedAt", "id") < (${after?.[0]}, ${after?.[1]})`),
        )
        .orderBy('receivedAt', 'desc')
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .offset(offset)
        .execute()
    },
  }

  async function readContents(ids: readonly string[]) {
    if (ids.length === 0) return new Map<string, { subject: string; snippet: string; fields: string }>()
    const rows = await handle
      .selectFrom('messages')
      .select(['id', 'subject', 'snippet', 'fields'])
      .where('id', 'in', padded(ids))
      .execute()
    return new Map(rows.map((row) => [row.id, row]))
  }

  async function readLabels(accountId: string, threadIds: readonly string[]): Promise<Map<string, string[]>> {
    const rows = await handle
      .selectFrom('threadLabels')
      .select(['threadId', 'labelId'])
      .where('threadId', 'in', padded(threadIds))
      .where('labelId', '!=', accountId)
      .orderBy('labelId')
      .execute()
    const labels = new Map<string, string[]>()
    for (const { threadId, labelId } of rows) {
      if (!isAllMail(labelId)) addToGroup(labels, threadId, labelId)
    }
    return labels
  }
}

function readAddresses(fields: string | undefined): RemoteAddress[] {
  if (fields === undefined) return []
  const { from, to, cc } = parseFields(fields)
  return [...(from === null ? [] : [from]), ...to, ...cc]
}

/** Addresses differ in more than case; a later one may have the name that the first one lacks. */
function distinct(addresses: readonly RemoteAddress[]): RemoteAddress[] {
  const byEmail = new Map<string, RemoteAddress>()
  for (const { name, email } of addresses) {
    const address = byEmail.get(email.toLowerCase())
    if (address === undefined) byEmail.set(email.toLowerCase(), { name, email })
    else if (address.name === '') address.name = name
  }
  return [...byEmail.values()]
}

/** How many of a thread's newest messages are compared. */
const MAX_COMPARED = 50

/** The newest message of a thread with this Message-ID that is not a draft. */
export async function findInThread(
  handle: Handle,
  { accountId, threadId }: { accountId: string; threadId: string },
  rfcMessageId: string,
): Promise<MessageRow | undefined> {
  const newest = handle
    .selectFrom('messages')
    .select('id')
    .where('threadId', '=', threadId)
    .where('goneAt', 'is', null)
    .orderBy('receivedAt', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_COMPARED)
  const rows = await messageStore(handle).byIds((await newest.execute()).map(({ id }) => id))
  const found = rows.filter((row) => row.accountId === accountId && parseFields(row.fields).messageId === rfcMessageId)
  const folders = await labelStore(handle).byIds(found.flatMap(({ folderId }) => folderId ?? []))
  return found.find(({ folderId }) => folders.get(folderId ?? '')?.role !== 'drafts')
}

/** The message with this Message-ID that the user sent, with any program: from the thread that names it, or from `threadId`. */
export async function findSentByUser(
  handle: Handle,
  { accountId, email, threadId }: { accountId: string; email: string; threadId: string | null },
  rfcMessageId: string,
): Promise<MessageRow | undefined> {
  const threads = new Set([await threadNaming(handle, accountId, rfcMessageId), threadId ?? undefined])
  for (const thread of threads) {
    const found =
      thread === undefined ? undefined : await findInThread(handle, { accountId, threadId: thread }, rfcMessageId)
    if (found !== undefined && parseFields(found.fields).from?.email.toLowerCase() === email.toLowerCase()) return found
  }
  return undefined
}
