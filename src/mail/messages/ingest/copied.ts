/**
 * Moves in two steps: a program copies a message to another folder, and deletes the original later. Sync stores the copy without an
 * event, since the original is still there. When the original is missing, its row takes the copy's location and keeps its id.
 */
import type { Tx } from '../../../platform/db/index.ts'
import { labelStore } from '../../labels/index.ts'
import { changeTypes, messageEvent } from '../announce.ts'
import { identityHash, toIdentity } from '../rows/row.ts'
import { messageWriter, type Relocation } from '../rows/writer.ts'
import { type MessageRow, messageStore } from '../store.ts'
import type { IngestDeps, Read } from './batch.ts'
import { copyCandidates, copyKey } from './copies.ts'
import { isSameDelivery, wasDeliveredApart } from './match.ts'

/** Later, a deleted original no longer means a move. A program that was interrupted goes on when it next runs. */
const MOVE_MS = 60 * 60_000

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
  const copies = found.filter(({ id }) => listed.has(id)).map((row) => comparable(row, false))
  const used = new Set<string>()
  return rows.flatMap((row) => {
    const original = comparable(row, isDraft(row))
    const copy = copies.find((candidate) => !used.has(candidate.row.id) && isCopyOf(candidate, original))?.row
    if (copy === undefined || copy.folderId === null) return []
    used.add(copy.id)
    const { folderId, uidValidity, uid, providerMessageId, unread, starred } = copy
    return [{ copy, placement: { row, folderId, uidValidity, uid, providerMessageId, unread, starred } }]
  })
}

/** A row and what copies of it have in common with it: read once, because each row is compared with many. */
interface ComparableRow {
  row: MessageRow
  identity: string | null
  /** Null for a draft: the message that was sent of it has the same. */
  copyKey: string | null
}

function comparable(row: MessageRow, isDraft: boolean): ComparableRow {
  const identity = toIdentity(row)
  return {
    row,
    identity: identity === undefined ? null : identityHash(identity),
    copyKey: isDraft ? null : copyKey(row),
  }
}

function isCopyOf(copy: ComparableRow, original: ComparableRow): boolean {
  const { row } = original
  if (copy.row.id === row.id || copy.row.createdAt < row.createdAt) return false
  if (copy.row.createdAt <= (row.goneAt ?? 0) - MOVE_MS) return false
  if (copy.row.folderId === row.folderId && !isSameDelivery(copy.row, row)) return false
  if (row.emailIdHash !== null && row.emailIdHash === copy.row.emailIdHash) return true
  if (wasDeliveredApart(copy.row, row)) return false
  if (row.headerHash === copy.row.headerHash) return true
  if (original.identity !== null && original.identity === copy.identity) return true
  // A program that copies a message may add a header line, and may give it another INTERNALDATE.
  return original.copyKey !== null && original.copyKey === copy.copyKey
}
