import { StaleRead } from '../../../accounts/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import type { FolderStep, RemoteMessage } from '../../../providers/contract/index.ts'
import { type FolderCounts, labelStore } from '../../labels/index.ts'
import { messageEvent } from '../announce.ts'
import { arrivalType } from '../event-types.ts'
import { locatedMessages } from '../rows/located-messages.ts'
import { incomingRow, locationAndFlags } from '../rows/row.ts'
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
import { type IngestDeps, isStale, openBatch } from './batch.ts'
import { countIn, recordChanges } from './events-and-counts.ts'
import { announceChange, type FolderBatch, type FolderRead, type Incoming } from './folder-batch.ts'
import { recogniseDrafts } from './folder-drafts.ts'
import { matchStored, relocate } from './folder-matches.ts'
import { takeReserved } from './reserved.ts'

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
