import { hasNewContent, locationAndFlags, pickContent } from '../rows/row.ts'
import { folderDrafts } from './draft-versions.ts'
import { countIn } from './events-and-counts.ts'
import { announceChange, type FolderBatch, type Incoming, type Match } from './folder-batch.ts'

/**
 * Stores new versions of drafts in the rows of the old ones: `drafts`. Returns also those of them that have the same content in another
 * place, to be relocated, and the messages that are no drafts, or drafts of which no version is stored.
 */
export async function recogniseDrafts(
  batch: FolderBatch,
  incoming: readonly Incoming[],
): Promise<{ drafts: Match[]; resaved: Match[]; unknown: readonly Incoming[] }> {
  const { tx, read } = batch
  const { accountId, label, uidValidity } = read
  if (label.role !== 'drafts') return { drafts: [], resaved: [], unknown: incoming }
  const versions = await folderDrafts(tx, { accountId, labelId: label.id, uidValidity }, incoming)
  const drafts = incoming.flatMap(({ row: incoming }, index) => {
    const row = versions.get(index)
    return row == null ? [] : [{ row, incoming }]
  })
  await rewrite(
    batch,
    drafts.filter(({ row, incoming }) => hasNewContent(row, incoming)),
  )
  return {
    drafts,
    resaved: drafts.filter(({ row, incoming }) => !hasNewContent(row, incoming)),
    unknown: incoming.filter((_, index) => !versions.has(index)),
  }
}

/** Stores the new content of edited drafts. */
async function rewrite(batch: FolderBatch, edits: readonly Match[]): Promise<void> {
  if (edits.length === 0) return
  const { tx, deps, read, writer, nowMs, changes } = batch
  const { accountId, label } = read
  const rows = edits.map(({ row, incoming }) => ({
    ...row,
    ...pickContent(incoming),
    ...locationAndFlags(incoming),
    emailIdHash: incoming.emailIdHash,
    threadId: incoming.threadId ?? row.threadId,
    goneAt: null,
    version: row.version + 1,
    updatedAt: nowMs,
  }))
  await writer.update(rows.map((row) => ({ row, labelIds: [label.id], rewritten: true })))
  await deps.requestBodies?.(
    tx,
    accountId,
    rows.map(({ id }) => id),
  )
  for (const { row } of edits) countIn(changes, [label.id], row.goneAt === null ? 'updated' : 'added')
  for (const row of rows) announceChange(batch, row, label.role)
}
