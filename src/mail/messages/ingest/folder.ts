import { findApiChanges, StaleRead } from '../../../accounts/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import type { FolderRole, FolderStep, RemoteMessage } from '../../../providers/contract/index.ts'
import { type FolderCounts, type LabelRow, labelStore } from '../../labels/index.ts'
import { arrivalType, changeTypes, type EventBodies, messageEvent } from '../announce.ts'
import { locatedMessages } from '../rows/located.ts'
import { hasNewContent, type IncomingRow, incomingRow, locationAndFlags, pickContent } from '../rows/row.ts'
import { isVisibleChange, type Relocation } from '../rows/writer.ts'
import type { MessageRow } from '../store.ts'
import {
  arrivalEvents,
  arrivalRow,
  insertArrivals,
  requestReports,
  type SyncArrival,
  saveVersions,
  warnIncomplete,
} from './arrivals.ts'
import { type Batch, type IngestDeps, isStale, openBatch, type SyncRead } from './batch.ts'
import { countIn, recordChanges } from './changes.ts'
import { copyCandidates, copyKey } from './copies.ts'
import { folderDrafts } from './drafts.ts'
import { type Candidate, matchMessages, type Presence, sharesDeliveryWith, sharesKeyWith } from './match.ts'
import { takeReserved } from './reserved.ts'

/** The result of reading one folder. */
export interface FolderRead extends SyncRead {
  label: LabelRow
  /** UIDVALIDITY of the UIDs. Null before the first message. */
  uidValidity: string | null
  /** UIDs that the folder no longer has. */
  removed?: readonly number[]
  /** New flags. Unknown UIDs are ignored. */
  changed?: FolderStep['changed']
  added: readonly RemoteMessage[]
  /** Whether rows stored in other folders are still there, as reported by the server. */
  presence: Presence
  /** Bodies by UID; empty unless events include bodies. */
  bodies: ReadonlyMap<number, EventBodies>
}

/** New messages may be moved or copied rows of other folders. The server must say whether those rows are still there. */
export class UndecidedMatches extends Error {
  override name = 'UndecidedMatches'
  readonly rows: Candidate[]
  constructor(rows: Candidate[]) {
    super('messages may have been moved here from another folder')
    this.rows = rows
  }
}

type FolderBatch = Batch<FolderRead>

/** A message and its columns. */
interface Incoming {
  message: RemoteMessage
  row: IncomingRow
}

interface Flags {
  unread: number
  starred: number
}

/**
 * Stores what sync has read of a folder, with its events. Returns how many messages of the folder changed. Throws `UndecidedMatches`, and
 * `StaleRead` when a message was changed through the API since it was read; the caller's transaction must roll back then.
 */
export async function ingestFolder(tx: Tx, deps: IngestDeps, read: FolderRead): Promise<FolderCounts> {
  const { label, provider, removed = [], changed = [], added } = read
  const batch: FolderBatch = openBatch(tx, deps, read)
  await removeUids(batch, removed)
  await updateFlags(batch, changed)
  if (added.length > 0) await addMessages(batch, added)
  const { changes } = batch
  const counted = [...changes.counts.keys()]
  // Messages moved here from these.
  const others = await labelStore(tx).byIds(counted.filter((id) => id !== label.id))
  const labels = counted.flatMap((id) => (id === label.id ? label : (others.get(id) ?? [])))
  await recordChanges(tx, deps.events, provider, changes, labels)
  return changes.counts.get(label.id) ?? { added: 0, updated: 0, deleted: 0 }
}

async function removeUids({ tx, read, writer, changes }: FolderBatch, uids: readonly number[]): Promise<void> {
  if (read.uidValidity === null || uids.length === 0) return
  const ids = await locatedMessages(tx).idsByLocation(read.label.id, read.uidValidity, uids)
  await writer.markMissing(ids)
  countIn(changes, [read.label.id], 'deleted', ids.length)
}

async function updateFlags(batch: FolderBatch, changed: FolderStep['changed']): Promise<void> {
  const flags = new Map(
    changed.map(({ uid, unread, starred }) => [uid, { unread: Number(unread), starred: Number(starred) }]),
  )
  await setFlags(batch, await rowsAt(batch, [...flags.keys()]), flags)
}

async function rowsAt({ tx, read }: FolderBatch, uids: readonly number[]): Promise<MessageRow[]> {
  return read.uidValidity === null ? [] : locatedMessages(tx).byLocation(read.label.id, read.uidValidity, uids)
}

async function setFlags(
  batch: FolderBatch,
  rows: readonly MessageRow[],
  flags: ReadonlyMap<number, Flags>,
): Promise<void> {
  if (rows.length === 0) return
  const { read, writer, changes } = batch
  const changed = await writer.syncFlags(rows.map((row) => ({ row, ...(flags.get(row.uid ?? -1) ?? row) })))
  if (changed.some((row) => isStale(batch, row))) throw new StaleRead()
  countIn(changes, [read.label.id], 'updated', changed.length)
  for (const row of changed) announceChange(batch, row, read.label.role)
}

function announceChange({ read, changes }: FolderBatch, row: MessageRow, roleBefore: FolderRole | null): void {
  for (const type of changeTypes(roleBefore, read.label.role)) {
    changes.events.push(messageEvent(type, row, read.label, read.provider))
  }
}

async function addMessages(batch: FolderBatch, added: readonly RemoteMessage[]): Promise<void> {
  const { read, nowMs } = batch
  const { accountId, label } = read
  // In the order of arrival: ids and events keep it.
  const incoming = added
    .map((message) => ({ message, row: incomingRow(message, { accountId, labelId: label.id, nowMs }) }))
    .sort((a, b) => (a.row.uid ?? 0) - (b.row.uid ?? 0))
  const unlocated = await updateLocated(batch, incoming)
  const { drafts, resaved, unknown } = await recogniseDrafts(batch, unlocated)
  const { moved, copies, unmatched } = await matchStored(batch, unknown)
  await relocate(batch, [...moved, ...resaved])
  const stored = await insertUnmatched(batch, unmatched, copies)
  if (label.role !== 'drafts') return
  const ids = new Map<number | null, string>()
  for (const { row, incoming } of [...drafts, ...moved]) ids.set(incoming.uid, row.id)
  for (const row of stored) ids.set(row.uid, row.id)
  await saveVersions(
    batch.tx,
    accountId,
    unlocated.map(({ message }) => message),
    ({ location }) => ids.get(location?.uid ?? null),
  )
}

/** Updates messages stored before, by a sync that crashed or by a request. Returns the other ones. */
async function updateLocated(batch: FolderBatch, incoming: readonly Incoming[]): Promise<Incoming[]> {
  const { read, store } = batch
  const rows = await rowsAt(
    batch,
    incoming.flatMap(({ row }) => row.uid ?? []),
  )
  if (rows.length === 0) return [...incoming]
  const byUid = new Map(incoming.map(({ row }) => [row.uid ?? -1, row]))
  const labels = await store.labelIds(rows.map((row) => row.id))
  const unlisted = rows.filter((row) => !labels.has(row.id))
  await batch.writer.relocate(
    unlisted.map((row) => ({
      row,
      folderId: read.label.id,
      ...locationAndFlags(byUid.get(row.uid ?? -1) ?? row),
    })),
  )
  countIn(batch.changes, [read.label.id], 'added', unlisted.length)
  const listed = rows.filter((row) => labels.has(row.id))
  await setFlags(batch, listed, byUid)
  const located = new Set(rows.map((row) => row.uid))
  return incoming.filter(({ row }) => !located.has(row.uid))
}

/** A row, and the message that it becomes. */
interface Match {
  row: MessageRow
  incoming: IncomingRow
}

/**
 * Stores new versions of drafts in the rows of the old ones: `drafts`. Returns also those of them that have the same content in another
 * place, to be relocated, and the messages that are no drafts, or drafts of which no version is stored.
 */
async function recogniseDrafts(
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

interface Matched {
  moved: Match[]
  unmatched: Incoming[]
  /** Those of `unmatched` that are copies of stored messages. */
  copies: ReadonlySet<Incoming>
}

/** Finds the rows of messages that moved here. Throws `UndecidedMatches` and `StaleRead`. */
async function matchStored(batch: FolderBatch, unknown: readonly Incoming[]): Promise<Matched> {
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
async function relocate(batch: FolderBatch, matches: readonly Match[]): Promise<void> {
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

async function insertUnmatched(
  batch: FolderBatch,
  unmatched: readonly Incoming[],
  copies: ReadonlySet<Incoming>,
): Promise<MessageRow[]> {
  if (unmatched.length === 0) return []
  const { tx, deps, read, writer, nowMs, changes } = batch
  const { accountId, label, provider, bodies } = read
  const reserved = await takeReserved(
    tx,
    accountId,
    unmatched.map(({ message }) => ({ message, roles: [label.role] })),
  )
  const arrivals = unmatched.flatMap((one, index): SyncArrival[] => {
    const reservation = reserved.get(index)
    if (reservation === 'hide') return []
    const isNew = reservation !== undefined || (!copies.has(one) && read.isNew(one.message, one.row))
    const id = reservation?.take ?? deps.ids('msg')
    return [
      {
        message: one.message,
        row: arrivalRow(one.row, { accountId, labelId: label.id, id, nowMs }),
        labelIds: [label.id],
        type: isNew ? arrivalType(label.role) : undefined,
      },
    ]
  })
  const stored = await insertArrivals(writer, arrivals)
  await deps.requestBodies?.(
    tx,
    accountId,
    stored.map((row) => row.id),
  )
  await requestReports(tx, deps, accountId, arrivals)
  warnIncomplete(deps, read, label.id, arrivals.length, stored)
  countIn(changes, [label.id], 'added', stored.length)
  changes.events.push(
    ...arrivalEvents(arrivals, stored, (type, row) =>
      messageEvent(type, row, label, provider, bodies.get(row.uid ?? -1)),
    ),
  )
  return stored
}
