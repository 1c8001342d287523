import type { FoundMessage, MailboxStep } from '../contract/index.ts'
import { ProviderError } from '../contract/index.ts'
import type { Graph } from './graph.ts'
import { type Json, text } from './json.ts'
import { flagsOf, foundMail, isWhole, mayHaveAttachments, receivedAt } from './map.ts'
import { attachmentLists, wholeMessages } from './messages.ts'

export interface StepContext {
  folderId: string
  /** Older messages are not stored; what is told of them is passed on for those that are all the same. */
  sinceMs: number | null
  isNew(item: Json): boolean
  nowMs: number
  signal: AbortSignal
}

type Changes = Pick<MailboxStep, 'found' | 'changed' | 'removed'>

/** What one page of a folder's changes says, with all that it left out. */
export async function changesOf(graph: Graph, items: readonly Json[], context: StepContext): Promise<Changes> {
  const { folderId, sinceMs, signal } = context
  const changed: Changes['changed'] = []
  const removed: string[] = []
  const whole: Json[] = []
  const partial: string[] = []
  for (const [id, item] of lastOfEach(items)) {
    const flags = { providerMessageId: id, ...flagsOf(item), folders: [text(item.parentFolderId) ?? folderId] }
    if ('@removed' in item) removed.push(id)
    else if (isWhole(item)) {
      if (sinceMs !== null && (receivedAt(item) ?? sinceMs) < sinceMs) changed.push(flags)
      else whole.push(item)
    } else if (tellsOnlyFlags(item)) changed.push(flags)
    else partial.push(id)
  }
  const fetched = await wholeMessages(graph, partial, signal)
  return { found: await foundMails(graph, [...whole, ...fetched], context), changed, removed }
}

/** Graph may name a message several times in one page: what comes last holds. */
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

/** A mail marked as read is told by that alone. */
function tellsOnlyFlags(item: Json): boolean {
  const told = Object.keys(item).filter((name) => !name.includes('@') && name !== 'id' && name !== 'parentFolderId')
  return told.length > 0 && told.every((name) => name === 'isRead' || name === 'flag')
}

async function foundMails(graph: Graph, items: readonly Json[], context: StepContext): Promise<FoundMessage[]> {
  const { folderId, isNew, nowMs, signal } = context
  const holders = items.filter(mayHaveAttachments).flatMap((item) => text(item.id) ?? [])
  const lists = await attachmentLists(graph, holders, signal)
  return items.map((item) => {
    const listed = lists.get(text(item.id) ?? '') ?? []
    const isGood = !(listed instanceof ProviderError)
    return foundMail(item, {
      ...{ folder: folderId, nowMs, isNew: isNew(item), attachments: isGood ? listed : [] },
      // One that is gone meanwhile is told as removed in the next round.
      error: isGood || listed.kind === 'not_found' ? null : 'the attachments of this message could not be listed',
    })
  })
}
