import { type FailedMessage, ProviderError, type ReadAgain, type ReadAgainRequest } from '../../contract/index.ts'
import { isReading, type Json, resultOfEach, text } from '../../shared/rest/index.ts'
import { type Graph, messagePath } from '../client.ts'
import { withDetails } from '../details.ts'
import { readFlags, receivedAt } from '../map.ts'
import { fetchMessages, inPart } from './fetch.ts'

/** Fields that Graph may know of a message whose content it does not return. */
const KNOWN_FIELDS = { $select: 'id,parentFolderId,conversationId,receivedDateTime,isRead,flag' }

/** Reads messages that failed before. What Graph does not return entirely, it may return in short. */
export async function readAgain(
  graph: Graph,
  { ids, control, signal }: ReadAgainRequest,
  nowMs: number,
): Promise<ReadAgain> {
  const { messages, removed, failed } = await fetchMessages(graph, ids, signal)
  // Their headers say whether a program wrote them, as for new messages.
  const found = await withDetails(graph, messages, { folderId: '', isNew: () => true, nowMs, signal })
  const short = await readShort(
    graph,
    failed.map((message) => message.providerMessageId),
    signal,
  )
  const readControl = async (id: string) => {
    const { failed: failures } = await fetchMessages(graph, [id], signal)
    return failures.length === 0 ? undefined : new ProviderError('unavailable', 'fetching messages')
  }
  return {
    found,
    removed,
    failed: [
      ...failed.map((message) => ({ ...message, ...toPartialMessage(short.get(message.providerMessageId)) })),
      ...inPart(found),
    ],
    isReading: failed.length < ids.length || (await isReading(control, ids.length, readControl)),
  }
}

async function readShort(graph: Graph, ids: readonly string[], signal: AbortSignal): Promise<Map<string, Json>> {
  const items = ids.map((id) => ({ id, path: messagePath(id), query: KNOWN_FIELDS }))
  const results = await resultOfEach(items, (some) =>
    graph.batch(some, { doing: 'looking up messages', signal, isolates: true }),
  )
  return new Map(
    [...results].flatMap(([{ id }, result]) => (result instanceof ProviderError ? [] : [[id, result] as const])),
  )
}

function toPartialMessage(item: Json | undefined): Partial<FailedMessage> {
  if (item === undefined) return {}
  const [folder, threadId, receivedMs] = [text(item.parentFolderId), text(item.conversationId), receivedAt(item)]
  return {
    ...readFlags(item),
    ...(folder !== undefined && { folders: [folder] }),
    ...(threadId !== undefined && { threadId }),
    ...(receivedMs !== undefined && { receivedAt: receivedMs }),
  }
}
