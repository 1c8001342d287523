import { type FoundMessage, type MailboxStep, ProviderError, type RemoteAttachment } from '../../contract/index.ts'
import type { Header } from '../../mime/index.ts'
import { type Json, list, text } from '../../rest/index.ts'
import { type BatchResult, bodyOf, type Graph, messagePath, SYNC_LIMITS } from '../client.ts'
import {
  AS_TEXT,
  ATTACHMENT_FIELDS,
  attachmentsOf,
  flagsOf,
  foundMessage,
  headersOf,
  isComplete,
  isDamaged,
  isReply,
  MESSAGE_FIELDS,
  mayHaveAttachments,
  receivedAt,
} from '../map.ts'

export interface ChangesContext {
  folderId: string
  /** Older messages are not stored. Their changes are returned all the same, for those that are. */
  sinceMs: number | null
  isNew(item: Json): boolean
  nowMs: number
  signal: AbortSignal
}

type Changes = Pick<MailboxStep, 'found' | 'changed' | 'removed'>

/** Converts one page of a folder's changes, and fetches what Graph left out. */
export async function changesOf(graph: Graph, items: readonly Json[], context: ChangesContext): Promise<Changes> {
  const { folderId, sinceMs, signal } = context
  const changed: Changes['changed'] = []
  const removed: string[] = []
  const complete: Json[] = []
  const partial: string[] = []
  for (const [id, item] of lastOfEach(items)) {
    const flags = { providerMessageId: id, ...flagsOf(item), folders: [text(item.parentFolderId) ?? folderId] }
    if ('@removed' in item) removed.push(id)
    else if (isComplete(item)) {
      if (sinceMs !== null && (receivedAt(item) ?? sinceMs) < sinceMs) changed.push(flags)
      else complete.push(item)
    } else if (hasOnlyFlags(item)) changed.push(flags)
    else partial.push(id)
  }
  const fetched = await fetchMessages(graph, partial, signal)
  return { found: await withAttachments(graph, [...complete, ...fetched], context), changed, removed }
}

/** Graph may list a message several times in one page: the last item is its current state. */
function lastOfEach(items: readonly Json[]): Map<string, Json> {
  const last = new Map<string, Json>()
  for (const item of items) {
    const id = text(item.id)
    if (id === undefined) continue
    last.delete(id)
    last.set(id, item)
  }
  return last
}

function hasOnlyFlags(item: Json): boolean {
  const changed = Object.keys(item).filter((name) => !name.includes('@') && name !== 'id' && name !== 'parentFolderId')
  return changed.length > 0 && changed.every((name) => name === 'isRead' || name === 'flag')
}

/**
 * The messages of complete items, with what Graph left out: attachments, and the headers of new replies, which say whether a program
 * wrote them, and of messages whose fields are damaged.
 */
export async function withAttachments(
  graph: Graph,
  items: readonly Json[],
  context: ChangesContext,
): Promise<FoundMessage[]> {
  const { folderId, isNew, nowMs, signal } = context
  const idsOf = (some: readonly Json[]) => some.flatMap((item) => text(item.id) ?? [])
  const [lists, headers] = await Promise.all([
    listAttachments(graph, idsOf(items.filter(mayHaveAttachments)), signal),
    readHeaders(graph, idsOf(items.filter((item) => (isNew(item) && isReply(item)) || isDamaged(item))), signal),
  ])
  return items.map((item) => {
    const id = text(item.id) ?? ''
    const attachments = lists.get(id) ?? []
    const isListed = !(attachments instanceof ProviderError)
    return foundMessage(item, {
      ...{ folder: folderId, nowMs, isNew: isNew(item), attachments: isListed ? attachments : [] },
      headers: headers.get(id) ?? [],
      // The next round reports a message that was deleted meanwhile.
      error:
        isListed || attachments.kind === 'not_found' ? null : 'the attachments of this message could not be listed',
    })
  })
}

/** Fetches messages; leaves out deleted ones. */
async function fetchMessages(graph: Graph, ids: readonly string[], signal: AbortSignal): Promise<Json[]> {
  const items = ids.map((id) => ({ path: messagePath(id), query: MESSAGE_FIELDS, prefer: [AS_TEXT] }))
  const results = await graph.batch(items, { doing: 'fetching messages', signal, ...SYNC_LIMITS })
  return items.map((item) => unlessDeleted(results.get(item))).filter((message) => message !== undefined)
}

/** Which of these messages are in the folder. */
export async function idsInFolder(
  graph: Graph,
  folderId: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Set<string>> {
  const items = ids.map((id) => ({ id, path: messagePath(id), query: { $select: 'parentFolderId' } }))
  const results = await graph.batch(items, { doing: 'looking up messages', signal })
  const present = items.filter((item) => text(unlessDeleted(results.get(item))?.parentFolderId) === folderId)
  return new Set(present.map(({ id }) => id))
}

async function listAttachments(
  graph: Graph,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, RemoteAttachment[] | ProviderError>> {
  const items = ids.map((id) => ({ id, path: `${messagePath(id)}/attachments`, query: { $select: ATTACHMENT_FIELDS } }))
  const results = await graph.batch(items, { doing: 'listing attachments', signal })
  return new Map(
    items.map((item) => {
      const result = results.get(item)
      return [item.id, result instanceof ProviderError ? result : attachmentsOf(list(result?.value))]
    }),
  )
}

/** Without those that cannot be read: what Graph says of them decides. */
async function readHeaders(
  graph: Graph,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Header[]>> {
  const items = ids.map((id) => ({ id, path: messagePath(id), query: { $select: 'internetMessageHeaders' } }))
  const results = await graph.batch(items, { doing: 'reading headers', signal, ...SYNC_LIMITS })
  return new Map(
    items.flatMap((item) => {
      const result = results.get(item)
      return result === undefined || result instanceof ProviderError ? [] : [[item.id, headersOf(result)] as const]
    }),
  )
}

function unlessDeleted(result: BatchResult | undefined): Json | undefined {
  return result instanceof ProviderError && result.kind === 'not_found' ? undefined : bodyOf(result)
}
