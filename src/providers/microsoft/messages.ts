import { ProviderError, type RemoteAttachment } from '../contract/index.ts'
import { answered, type Graph, segment } from './graph.ts'
import { type Json, list, text } from './json.ts'
import { AS_TEXT, ATTACHMENT_FIELDS, attachmentsOf, MESSAGE_FIELDS } from './map.ts'

export function messagePath(id: string): string {
  return `/me/messages/${segment(id)}`
}

/** These messages as a whole; those that are gone are left out. */
export async function wholeMessages(graph: Graph, ids: readonly string[], signal: AbortSignal): Promise<Json[]> {
  const items = ids.map((id) => ({ path: messagePath(id), query: MESSAGE_FIELDS, prefer: [AS_TEXT] }))
  const outcome = await graph.batch(items, { doing: 'fetching messages', signal })
  return items.map((item) => unlessGone(outcome.get(item))).filter((message) => message !== undefined)
}

/** Which of these messages stand in this folder. */
export async function stillInFolder(
  graph: Graph,
  folderId: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Set<string>> {
  const items = ids.map((id) => ({ id, path: messagePath(id), query: { $select: 'parentFolderId' } }))
  const outcome = await graph.batch(items, { doing: 'looking for messages', signal })
  const present = items.filter((item) => text(unlessGone(outcome.get(item))?.parentFolderId) === folderId)
  return new Set(present.map(({ id }) => id))
}

/** The attachments of these messages; an error where they could not be listed. */
export async function attachmentLists(
  graph: Graph,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, RemoteAttachment[] | ProviderError>> {
  const items = ids.map((id) => ({ id, path: `${messagePath(id)}/attachments`, query: { $select: ATTACHMENT_FIELDS } }))
  const outcome = await graph.batch(items, { doing: 'listing attachments', signal })
  return new Map(
    items.map((item) => {
      const result = outcome.get(item)
      return [item.id, result instanceof ProviderError ? result : attachmentsOf(list(result?.value))]
    }),
  )
}

function unlessGone(outcome: Json | ProviderError | undefined): Json | undefined {
  return outcome instanceof ProviderError && outcome.kind === 'not_found' ? undefined : answered(outcome)
}
