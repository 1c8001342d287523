import { findApiChanges, StaleRead } from '../../../accounts/index.ts'
import { labelStore } from '../../labels/index.ts'
import { type IncomingRow, locationAndFlags } from '../rows/row.ts'
import { isVisibleChange, type Relocation } from '../rows/writer.ts'
import { isStale } from './batch.ts'
import { countIn } from './events-and-counts.ts'
import { announceChange, type FolderBatch, type Incoming, type Match } from './folder-batch.ts'
import { copyCandidates, copyKey } from './matching/copies.ts'
import { type Candidate, matchMessages, sharesDeliveryWith, sharesKeyWith } from './matching/match.ts'

/** New messages may be moved or copied rows of other folders. The server must say whether those rows are still there. */
export class UndecidedMatches extends Error {
  override name = 'UndecidedMatches'
  readonly rows: Candidate[]
  constructor(rows: Candidate[]) {
    super('messages may have been moved here from another folder')
    this.rows = rows
  }
}

interface Matched {
  moved: Match[]
  unmatched: Incoming[]
  /** The messages, among `unmatched`, that are copies of stored ones. */
  copies: ReadonlySet<Incoming>
}

/** Finds the rows of messages that moved here. Throws `UndecidedMatches` and `StaleRead`. */
export async function matchStored(batch: FolderBatch, unknown: readonly Incoming[]): Promise<Matched> {
  const { read, store } = batch
  const { accountId, label, presence } = read
  const rows = unknown.map(({ row }) => row)
  const known = await store.candidates(accountId, rows)
  const isKnown = sharesDeliveryWith(known)
  const copied = await movableCopies(
    batch,
    rows.filter((row) => !isKnown(row)),
  )
  const knownIds = new Set(known.map((row) => row.id))
  const candidates = [...known, ...copied.filter((row) => !knownIds.has(row.id))]
  const matchable = rows.map((row) => ({ ...row, copyKey: copyKey(row) }))
  const { matched, copies, undecided } = matchMessages(matchable, candidates, label.id, presence)
  if (undecided.length > 0) throw new UndecidedMatches(undecided)
  const unmatched = unknown.filter((_, index) => !matched.has(index))
  if (unmatched.length > 0) await ensureFresh(batch, unmatched, candidates)

  const originals = await store.byIds([...matched.values()].map((row) => row.id))
  const byId = new Map(originals.map((row) => [row.id, row]))
  const moved = unknown.flatMap(({ row: incoming }, index) => {
    const row = byId.get(matched.get(index)?.id ?? '')
    return row === undefined ? [] : [{ row, incoming }]
  })
  return { moved, unmatched, copies: new Set(unknown.filter((_, index) => copies.has(index))) }
}

/** Without drafts that still exist: the message that was sent of one is no copy, even where a program keeps the draft's Date. */
async function movableCopies({ tx, read }: FolderBatch, messages: readonly IncomingRow[]): Promise<Candidate[]> {
  const candidates = await copyCandidates(tx, read.accountId, messages)
  const folders = await labelStore(tx).byIds([...new Set(candidates.flatMap((row) => row.folderId ?? []))])
  const isDraft = (row: Candidate) => folders.get(row.folderId ?? '')?.role === 'drafts'
  return candidates.filter((row) => !isDraft(row) || read.presence.get(row.id) !== 'present')
}

/** A message that matches no row was perhaps moved or deleted through the API. */
async function ensureFresh(
  batch: FolderBatch,
  unmatched: readonly Incoming[],
  candidates: readonly Candidate[],
): Promise<void> {
  const { tx, read } = batch
  const isChanged = sharesKeyWith(candidates.filter((row) => isStale(batch, row)))
  if (unmatched.some(({ row }) => isChanged(row))) throw new StaleRead()
  const now = await findApiChanges(tx, read.accountId)
  if (now.latestDeletion > read.apiChanges.latestDeletion) throw new StaleRead()
}

/** Gives rows the locations of their messages here. */
export async function relocate(batch: FolderBatch, matches: readonly Match[]): Promise<void> {
  if (matches.length === 0) return
  const { tx, read, store, writer, changes } = batch
  const { label } = read
  const listed = await store.labelIds(matches.map(({ row }) => row.id))
  const relocations = matches.map(({ row, incoming }) => ({
    row,
    folderId: label.id,
    ...locationAndFlags(incoming),
  }))
  const isVisible = ({ row, ...location }: Relocation) => isVisibleChange(row, location)
  if (relocations.some((one) => isStale(batch, one.row) && isVisible(one))) throw new StaleRead()
  const moved = await writer.relocate(relocations)
  const folders = await labelStore(tx).byIds([...new Set(matches.flatMap(({ row }) => row.folderId ?? []))])
  for (const [index, relocation] of relocations.entries()) {
    const { row } = relocation
    const isHere = row.folderId === label.id
    const isPresent = row.uid !== null && listed.has(row.id)
    if (!isHere || row.goneAt !== null) countIn(changes, [label.id], 'added')
    if (isPresent && row.folderId !== null && !isHere) countIn(changes, [row.folderId], 'deleted')
    const after = moved[index]
    if (after === undefined || !isVisible(relocation)) continue
    if (isHere && row.goneAt === null) countIn(changes, [label.id], 'updated')
    announceChange(batch, after, folders.get(row.folderId ?? '')?.role ?? null)
  }
}
