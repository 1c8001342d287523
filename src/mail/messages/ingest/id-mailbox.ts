import { findApiChanges, StaleRead } from '../../../accounts/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import type { FoundMessage, RemoteMessage } from '../../../providers/contract/index.ts'
import type { FolderCounts } from '../../labels/index.ts'
import { arrivalType, deletionType } from '../event-types.ts'
import { type IncomingRow, incomingRow, isFound } from '../rows/row.ts'
import type { MessageUpdate } from '../rows/writer.ts'
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
import { mailboxDrafts } from './draft-versions.ts'
import { countIn, recordChanges } from './events-and-counts.ts'
import {
  knownLabelIds,
  listedLabels,
  locationAt,
  type MailboxBatch,
  type MailboxRead,
  mailboxEvent,
  type RemoteState,
} from './id-mailbox-batch.ts'
import { updateMessage } from './id-mailbox-update.ts'
import { takeReserved } from './reserved.ts'

/**
 * Stores what sync has read of a mailbox, with its events. Returns how many messages changed. Throws `StaleRead` when a message was changed
 * through the API since it was read; the caller's transaction must roll back then.
 */
export async function ingestMailbox(tx: Tx, deps: IngestDeps, read: MailboxRead): Promise<FolderCounts> {
  const { removed = [], changed = [], found = [] } = read
  const batch: MailboxBatch = {
    ...openBatch(tx, deps, read),
    byId: new Map([...read.labels.values()].map((label) => [label.id, label])),
    confirmed: [],
    totals: { added: 0, updated: 0, deleted: 0 },
  }
  if (removed.length > 0) await removeMessages(batch, removed)
  if (changed.length > 0) await changeMessages(batch, changed)
  if (found.length > 0) await addFound(batch, found)
  await batch.writer.confirm(batch.confirmed)
  const labels = [...batch.changes.counts.keys()].flatMap((id) => batch.byId.get(id) ?? [])
  await recordChanges(tx, deps.events, read.provider, batch.changes, labels)
  return batch.totals
}

async function removeMessages(batch: MailboxBatch, ids: readonly string[]): Promise<void> {
  const { read, writer, changes, totals } = batch
  const { scope } = read
  const { rows, labelsBefore } = await storedMessages(batch, ids)
  if (scope !== undefined) {
    const leaving = rows.filter((row) => row.folderId === scope.id && row.goneAt === null && !isFound(row))
    if (leaving.some((row) => isStale(batch, row))) throw new StaleRead()
    await writer.markMissing(leaving.map((row) => row.id))
    totals.deleted += leaving.length
    countIn(changes, [scope.id], 'deleted', leaving.length)
    return
  }
  await writer.remove(rows.map((row) => row.id))
  for (const row of rows) {
    if (isFound(row)) continue
    const labelIds = labelsBefore.get(row.id) ?? []
    const type = deletionType(batch.byId.get(row.folderId ?? '')?.role ?? null)
    totals.deleted += 1
    countIn(changes, labelIds, 'deleted')
    changes.events.push(mailboxEvent(batch, type, { ...row, version: row.version + 1 }, labelIds))
  }
}

async function storedMessages({ read, store }: MailboxBatch, providerIds: readonly string[]) {
  const rows = await store.byProviderIds(read.accountId, providerIds)
  return { rows, labelsBefore: await store.labelIds(rows.map((row) => row.id)) }
}

/** Messages that only a search found change without an event. */
async function changeMessages(batch: MailboxBatch, changed: readonly RemoteState[]): Promise<void> {
  const { writer } = batch
  const remote = new Map(changed.map((one) => [one.providerMessageId, one]))
  const { rows, labelsBefore } = await storedMessages(batch, [...remote.keys()])
  const chooseFlags = ({ providerMessageId, unread, starred }: MessageRow) => {
    const now = remote.get(providerMessageId)
    return { unread: Number(now?.unread ?? unread), starred: Number(now?.starred ?? starred) }
  }
  await writer.syncFlags(rows.filter(isFound).map((row) => ({ row, ...chooseFlags(row) })))
  const updates = rows.flatMap((row) => {
    const now = remote.get(row.providerMessageId)
    if (now === undefined || row.goneAt !== null || isFound(row)) return []
    return updateMessage(batch, row, labelsBefore.get(row.id) ?? [], now) ?? []
  })
  await writer.update(updates)
}

/** A complete message, its columns and its labels. */
interface Incoming {
  message: RemoteMessage
  row: IncomingRow
  folders: string[]
  labelIds: string[]
}

async function addFound(batch: MailboxBatch, found: readonly FoundMessage[]): Promise<void> {
  const { tx, deps, read, nowMs } = batch
  const { accountId } = read
  const incoming = found.map(({ message, folders }) => ({
    message,
    row: incomingRow(message, { accountId, labelId: '', nowMs }),
    folders,
    labelIds: knownLabelIds(batch, folders),
  }))
  const { known, searched } = await recognise(batch, incoming)
  const updates = await updateKnown(batch, incoming, known)
  const unknown = incoming.filter(({ row }) => !known.has(row.providerMessageId))
  const { arrivals, stored } = await insertUnknown(batch, unknown, searched)

  const repaired = read.repair !== undefined && found.some(({ message }) => message.mayBeReport) ? updates : []
  await requestReports(
    tx,
    deps,
    accountId,
    arrivals,
    repaired.map(({ row }) => row.id),
  )
  const edited = updates.filter(({ rewritten }) => rewritten).map(({ row }) => row)
  await deps.requestBodies?.(
    tx,
    accountId,
    [...stored, ...edited].map((row) => row.id),
  )
  const rows = new Map([...known, ...stored.map((row) => [row.providerMessageId, row] as const)])
  await saveVersions(
    tx,
    accountId,
    found.flatMap(({ message }) => (message.draftId === undefined ? [] : message)),
    ({ providerMessageId }) => rows.get(providerMessageId ?? '')?.id,
  )
}

interface Recognised {
  /** By provider id. Also the stored drafts of which a message is a new version. */
  known: ReadonlyMap<string, MessageRow>
  /** Messages that only a search has stored. They keep their ids, and arrive otherwise like unknown ones. */
  searched: ReadonlyMap<string, MessageRow>
}

async function recognise({ tx, read, store }: MailboxBatch, incoming: readonly Incoming[]): Promise<Recognised> {
  const rows = await store.byProviderIds(
    read.accountId,
    incoming.map(({ row }) => row.providerMessageId),
  )
  const searched = new Map(rows.filter(isFound).map((row) => [row.providerMessageId, row]))
  const present = new Map(rows.filter((row) => !isFound(row)).map((row) => [row.providerMessageId, row]))
  const unknown = incoming.filter(({ message }) => !present.has(message.providerMessageId ?? ''))
  const drafts = await mailboxDrafts(
    tx,
    read.accountId,
    unknown.map(({ message }) => message),
  )
  for (const [id, row] of drafts) if (!present.has(row.providerMessageId)) present.set(id, row)
  return { known: present, searched }
}

async function updateKnown(
  batch: MailboxBatch,
  incoming: readonly Incoming[],
  known: ReadonlyMap<string, MessageRow>,
): Promise<MessageUpdate[]> {
  const labelsBefore = await batch.store.labelIds([...known.values()].map((row) => row.id))
  const updates = incoming.flatMap(({ message, row: incoming, folders }) => {
    const row = known.get(incoming.providerMessageId)
    if (row === undefined) return []
    const remote = {
      providerMessageId: incoming.providerMessageId,
      unread: message.unread,
      starred: message.starred,
      folders,
    }
    return updateMessage(batch, row, labelsBefore.get(row.id) ?? [], remote, incoming) ?? []
  })
  await batch.writer.update(updates)
  return updates
}

interface MailboxArrival extends SyncArrival {
  /** Without that of all mail. */
  ownLabelIds: readonly string[]
}

async function insertUnknown(
  batch: MailboxBatch,
  incoming: readonly Incoming[],
  searched: ReadonlyMap<string, MessageRow>,
): Promise<{ arrivals: MailboxArrival[]; stored: MessageRow[] }> {
  if (incoming.length === 0) return { arrivals: [], stored: [] }
  const { deps, read, writer, changes, totals } = batch
  // In the order of arrival, so that ids and events are in that order.
  const unknown = incoming.toSorted((a, b) => a.row.receivedAt - b.row.receivedAt)
  const arrivals = await buildArrivals(batch, unknown, searched)
  if (arrivals.length > 0) await ensureNoDeletion(batch)
  const stored = await insertArrivals(writer, arrivals)
  warnIncomplete(deps, read, read.scope?.id, arrivals.length, stored)
  const labelIds = new Map(arrivals.map(({ row, ownLabelIds }) => [row.id, ownLabelIds]))
  totals.added += stored.length
  for (const { id } of stored) countIn(changes, labelIds.get(id) ?? [], 'added')
  changes.events.push(
    ...arrivalEvents(arrivals, stored, (type, row) => mailboxEvent(batch, type, row, labelIds.get(row.id) ?? [])),
  )
  return { arrivals, stored }
}

async function buildArrivals(
  { tx, deps, read, byId, nowMs }: MailboxBatch,
  unknown: readonly Incoming[],
  searched: ReadonlyMap<string, MessageRow>,
): Promise<MailboxArrival[]> {
  const { accountId } = read
  const reserved = await takeReserved(
    tx,
    accountId,
    unknown.map(({ message, labelIds }) => ({
      message,
      roles: labelIds.map((labelId) => byId.get(labelId)?.role ?? null),
    })),
  )
  return unknown.flatMap(({ message, row: incoming, labelIds }, index): MailboxArrival[] => {
    const reservation = reserved.get(index)
    if (reservation === 'hide') return []
    const location = locationAt({ read, byId }, labelIds)
    const before = searched.get(incoming.providerMessageId)
    const id = reservation?.take ?? before?.id ?? deps.ids('msg')
    const type = read.isNew(message, incoming) ? arrivalType(location.folder?.role ?? null) : undefined
    return [
      {
        message,
        row: arrivalRow(incoming, { accountId, labelId: location.folder?.id ?? null, id, nowMs }, before),
        labelIds: listedLabels(accountId, labelIds, location),
        ownLabelIds: labelIds,
        searched: before,
        // A message to oneself is in the inbox too, and was sent all the same.
        type: reservation?.as === 'sent' ? 'message.sent' : type,
      },
    ]
  })
}

/** An unknown message was perhaps deleted through the API. */
async function ensureNoDeletion({ tx, read }: MailboxBatch): Promise<void> {
  const now = await findApiChanges(tx, read.accountId)
  if (now.latestDeletion > read.apiChanges.latestDeletion) throw new StaleRead()
}
