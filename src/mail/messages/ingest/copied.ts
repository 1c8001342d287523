/**
 * Moves in two steps: a program copies a message to another folder, and deletes the original later. Sync stores the copy without an
 * event, since the original is still there. When the original is missing, its row takes the copy's location and keeps its id.
 */
import type { Tx } from '../../../platform/db/index.ts'
import { labelStore } from '../../labels/index.ts'
import { messageEvent } from '../announce.ts'
import { changeTypes } from '../event-types.ts'
import { identityHash, toIdentity } from '../rows/row.ts'
import { messageWriter, type Relocation } from '../rows/writer.ts'
import { type MessageRow, messageStore } from '../store.ts'
import type { IngestDeps, Read } from './batch.ts'
import { copyCandidates, copyKey } from './matching/copies.ts'
import { type ComparableRow, FreeCopies } from './matching/free-copies.ts'

/** Gives these missing messages the location of a copy that appeared in the hour before they went missing. */
export async function moveToCopies(
  tx: Tx,
  deps: Pick<IngestDeps, 'db' | 'clock' | 'events'>,
  { accountId, provider }: Pick<Read, 'accountId' | 'provider'>,
  rows: readonly MessageRow[],
): Promise<void> {
  const moves = await movedByCopy(tx, accountId, rows)
  if (moves.length === 0) return
  const writer = messageWriter(tx, { dialect: deps.db.dialect, accountId, nowMs: deps.clock.now() })
  await writer.remove(moves.map(({ copy }) => copy.id))
  const moved = await writer.relocate(moves.map(({ placement }) => placement))
  const folders = await labelStore(tx).byIds([...new Set([...moved, ...rows].flatMap((row) => row.folderId ?? []))])
  const folderRole = ({ folderId }: MessageRow) => folders.get(folderId ?? '')?.role ?? null
  const events = moves.flatMap(({ placement: { row } }, index) => {
    const after = moved[index]
    if (after === undefined || after.version === row.version) return []
    return changeTypes(folderRole(row), folderRole(after)).map((type) =>
      messageEvent(type, after, folders.get(after.folderId ?? ''), provider),
    )
  })
  await deps.events.record(tx, events)
}

async function movedByCopy(
  tx: Tx,
  accountId: string,
  rows: readonly MessageRow[],
): Promise<{ copy: MessageRow; placement: Relocation }[]> {
  const store = messageStore(tx)
  const folders = await labelStore(tx).byIds([...new Set(rows.flatMap((row) => row.folderId ?? []))])
  const isDraft = (row: MessageRow) => folders.get(row.folderId ?? '')?.role === 'drafts'
  const originals = await store.candidates(accountId, rows)
  // The message that was sent of a draft is no copy of it.
  const sent = rows.filter((row) => !isDraft(row))
  const candidates = [...originals, ...(await copyCandidates(tx, accountId, sent))].filter(
    (candidate) => candidate.uid !== null,
  )
  if (candidates.length === 0) return []
  const found = await store.byIds([...new Set(candidates.map((candidate) => candidate.id))])
  const listed = await store.labelIds(found.map((copy) => copy.id))
  const copies = new FreeCopies(found.filter(({ id }) => listed.has(id)).map((row) => comparable(row, false)))
  return rows.flatMap((row) => {
    const copy = copies.take(comparable(row, isDraft(row)))
    if (copy === undefined || copy.folderId === null) return []
    const { folderId, uidValidity, uid, providerMessageId, unread, starred } = copy
    return [{ copy, placement: { row, folderId, uidValidity, uid, providerMessageId, unread, starred } }]
  })
}

function comparable(row: MessageRow, isDraft: boolean): ComparableRow {
  const identity = toIdentity(row)
  return {
    row,
    identity: identity === undefined ? null : identityHash(identity),
    copyKey: isDraft ? null : copyKey(row),
  }
}
