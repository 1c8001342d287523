import { replaceFailure } from '../../platform/errors/programming-errors.ts'
import { ProviderError } from '../contract/index.ts'
import { text } from '../shared/rest/index.ts'
import { type BatchItem, type BatchResult, type Graph, messagePath } from './client.ts'
import { FolderList } from './folders.ts'
import { sendEach } from './send-each.ts'

interface Options {
  doing: string
  signal?: AbortSignal | undefined
}

/**
 * Deletes messages for good. One that does not exist counts as deleted, also where Exchange says only that it cannot be deleted:
 *
 *     permanentDelete ─┬─▶ deleted
 *                      ├─▶ no such action, or no such message ─▶ DELETE into the Deleted Items ─▶ DELETE from there
 *                      └─▶ refused ─▶ is it in a folder that people see? ─▶ the refusal counts
 */
export async function deleteForGood(
  graph: Graph,
  ids: readonly string[],
  options: Options,
): Promise<('deleted' | ProviderError)[]> {
  const results = new Map<string, BatchResult>()
  const send = async (some: readonly string[], toItem: (id: string) => BatchItem) => {
    const received = await sendEach(graph, some.map(toItem), options)
    some.forEach((id, index) => void results.set(id, received[index] ?? {}))
  }
  if (graph.isWorldwide) await send(ids, purge)
  const left = graph.isWorldwide ? ids.filter((id) => mayLackAction(results.get(id))) : ids
  await send(left, remove)
  await send(
    left.filter((id) => !(results.get(id) instanceof ProviderError)),
    remove,
  )
  const refused = ids.filter((id) => isRefusal(results.get(id)))
  const present = await findPresent(graph, refused, options)
  return ids.map((id) => {
    const result = results.get(id)
    if (!(result instanceof ProviderError) || result.kind === 'not_found') return 'deleted'
    return isRefusal(result) && !present.has(id) ? 'deleted' : result
  })
}

/** The same for one message. Throws when it cannot be deleted. */
export async function deleteOneForGood(graph: Graph, id: string, options: Options): Promise<void> {
  const [result] = await deleteForGood(graph, [id], options)
  if (result instanceof ProviderError) throw result
}

function purge(id: string): BatchItem {
  return { method: 'POST', path: `${messagePath(id)}/permanentDelete` }
}

function remove(id: string): BatchItem {
  return { method: 'DELETE', path: messagePath(id) }
}

/** A 404 may mean the action as well as the message. */
function mayLackAction(result: BatchResult | undefined): boolean {
  return result instanceof ProviderError && (result.unsupported || result.kind === 'not_found')
}

function isRefusal(result: BatchResult | undefined): boolean {
  return result instanceof ProviderError && result.kind === 'rejected' && !result.missingScope
}

/** Which of these messages are in a listed folder: Exchange keeps deleted ones in folders of its own. All of them if that is unknown. */
async function findPresent(graph: Graph, ids: readonly string[], options: Options): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const items = ids.map((id) => ({ path: messagePath(id), query: { $select: 'parentFolderId' } }))
  const states = await sendEach(graph, items, options)
  const folders = await new FolderList(graph).list(options.signal).catch(replaceFailure(undefined))
  const listed = new Set(folders?.map(({ path }) => path))
  return new Set(
    ids.filter((_, index) => {
      const state = states[index] ?? {}
      if (state instanceof ProviderError) return state.kind !== 'not_found'
      return folders === undefined || listed.has(text(state.parentFolderId) ?? '')
    }),
  )
}
