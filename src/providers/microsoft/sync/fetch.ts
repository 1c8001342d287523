import {
  type FailedMessage,
  type FoundMessage,
  type MailboxStep,
  ProviderError,
  type ReadMessages,
} from '../../contract/index.ts'
import { type Json, mayBeOfMessage, resultOfEach, text } from '../../shared/rest/index.ts'
import { type BatchResult, type Graph, messagePath, requireBody, SYNC_LIMITS } from '../client.ts'
import { type DetailsContext, withDetails } from '../details.ts'
import { AS_TEXT, DELTA_FIELDS, isComplete, readFlags, receivedAt } from '../map.ts'
import { sendEach } from '../send-each.ts'

interface ChangesContext extends DetailsContext {
  /** Older messages are not stored. Their changes are returned all the same, for those that are. */
  sinceMs: number | null
  /** Messages received later are new. */
  newSince: number
  /** Whether a folder is one of those that are synced. */
  isListed(folderId: string): boolean
}

type Changes = Pick<MailboxStep, 'found' | 'changed' | 'removed' | 'failed'>

/**
 * Converts one page of a folder's changes, and fetches what Graph left out. A message that left the folder is read by its id: under
 * immutable ids, Graph reports one that came back as removed and never as added.
 */
export async function readChanges(graph: Graph, items: readonly Json[], context: ChangesContext): Promise<Changes> {
  const { folderId, sinceMs, newSince, signal } = context
  const changed: Changes['changed'] = []
  const left: string[] = []
  const complete: Json[] = []
  const partial: string[] = []
  const add = (item: Json) => {
    const isOld = sinceMs !== null && (receivedAt(item) ?? sinceMs) < sinceMs
    if (isOld) changed.push(readState(item, folderId))
    else complete.push(item)
  }
  for (const [id, item] of lastOfEach(items)) {
    if ('@removed' in item) left.push(id)
    else if (isComplete(item)) add(item)
    else if (hasOnlyFlags(item)) changed.push(readState(item, folderId))
    else partial.push(id)
  }
  const hasLeft = new Set(left)
  const { messages, failed } = await fetchMessages(graph, [...partial, ...left], signal)
  for (const item of messages) {
    const id = text(item.id) ?? ''
    const folder = text(item.parentFolderId) ?? folderId
    if (!hasLeft.has(id)) complete.push(item)
    else if (folder === folderId || context.isListed(folder)) {
      add(item)
      hasLeft.delete(id)
    }
  }
  // Perhaps they are still there.
  for (const { providerMessageId } of failed) hasLeft.delete(providerMessageId)
  const found = await withDetails(graph, complete, context)
  return {
    found,
    changed,
    removed: [...hasLeft],
    failed: [...failed.map((message) => ({ ...message, newSince })), ...inPart(found)],
  }
}

function readState(item: Json, folderId: string): Changes['changed'][number] {
  const folders = [text(item.parentFolderId) ?? folderId]
  return { providerMessageId: text(item.id) ?? '', ...readFlags(item), folders }
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

interface Fetched {
  messages: Json[]
  removed: string[]
  failed: FailedMessage[]
}

/** Fetches messages by their ids. One that fails does not stop the others. */
export async function fetchMessages(graph: Graph, ids: readonly string[], signal: AbortSignal): Promise<Fetched> {
  const items = ids.map((id) => ({ id, path: messagePath(id), query: DELTA_FIELDS, prefer: [AS_TEXT] }))
  const results = await resultOfEach(items, (some) =>
    graph.batch(some, { doing: 'fetching messages', signal, isolates: true, ...SYNC_LIMITS }),
  )
  const fetched: Fetched = { messages: [], removed: [], failed: [] }
  for (const { id, result } of items.map((item) => ({ id: item.id, result: results.get(item) }))) {
    if (result === undefined || !(result instanceof ProviderError)) fetched.messages.push(requireBody(result))
    else if (result.kind === 'not_found') fetched.removed.push(id)
    else if (!mayBeOfMessage(result)) throw result
    else fetched.failed.push({ providerMessageId: id, reason: result.message, isNew: false })
  }
  return fetched
}

/** Messages that were read without some details. */
export function inPart(found: readonly FoundMessage[]): FailedMessage[] {
  return found.flatMap(({ message: { providerMessageId, error, isNew }, folders }) =>
    error !== null ? [{ providerMessageId, reason: error, isNew, folders }] : [],
  )
}

/** Messages wherever they are, unless they were deleted or are in folders that are not synced. */
export async function readMessages(
  graph: Graph,
  ids: readonly string[],
  context: DetailsContext & Pick<ChangesContext, 'isListed'>,
): Promise<ReadMessages> {
  const { signal } = context
  const items = ids.map((id) => ({ path: messagePath(id), query: { $select: 'parentFolderId' } }))
  const states = await sendEach(graph, items, { doing: 'looking up messages', signal })
  const listed: string[] = []
  const unknown: string[] = []
  for (const [index, id] of ids.entries()) {
    const state = states[index] ?? {}
    if (!(state instanceof ProviderError)) {
      if (context.isListed(text(state.parentFolderId) ?? '')) listed.push(id)
    } else if (state.kind !== 'not_found') unknown.push(id)
  }
  const { messages, failed } = await fetchMessages(graph, listed, signal)
  unknown.push(...failed.map(({ providerMessageId }) => providerMessageId))
  return { found: await withDetails(graph, messages, context), unknown }
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

function unlessDeleted(result: BatchResult | undefined): Json | undefined {
  return result instanceof ProviderError && result.kind === 'not_found' ? undefined : requireBody(result)
}
