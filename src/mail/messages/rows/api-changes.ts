import { numberApiChange } from '../../../accounts/index.ts'
import type { Recorder } from '../../../events/index.ts'
import type { Dialect, Tx } from '../../../platform/db/index.ts'
import type { ChangedMessage, ProviderName } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { labelledEvent } from '../announce.ts'
import { changeTypes, deletionType, type MessageEventType } from '../event-types.ts'
import { countIn, countRelabelled, noChanges, recordChanges } from '../ingest/events-and-counts.ts'
import { allMail, type MessageRow, messageStore } from '../store.ts'
import { chooseLocation } from './label-location.ts'
import { locatedMessages } from './located-messages.ts'
import { isFound, parseFields, withFoundLabels } from './row.ts'
import { messageWriter } from './writer.ts'

export interface ApiChangeContext {
  dialect: Dialect
  events: Recorder
  accountId: string
  provider: ProviderName
  /** All labels of the account. */
  labels: readonly LabelRow[]
  nowMs: number
}

/** A message as the provider returned it, and the row that was read before the request. */
export interface AcceptedChange {
  before: MessageRow
  now: ChangedMessage
}

/**
 * Stores changes that the provider has accepted: rows, labels, counters, and the events that sync would record, which then finds
 * nothing to do. Call it after `accounts.hold`. Returns the changes whose row another one has written or confirmed in between, sync as
 * a rule, and not to what the provider returned: which state is newer is unknown, so the caller reads the message again.
 */
export async function storeApiChanges(
  tx: Tx,
  context: ApiChangeContext,
  accepted: readonly AcceptedChange[],
): Promise<AcceptedChange[]> {
  const { accountId, nowMs } = context
  const store = messageStore(tx)
  const ids = accepted.map(({ before }) => before.id)
  const rows = new Map((await store.byIds(ids)).map((row) => [row.id, row]))
  const labelsBefore = await store.labelIds(ids)
  const apiChange = await numberApiChange(tx, accountId)
  const conflicts: AcceptedChange[] = []
  const changes = changeEvents(context)
  const changed = accepted.flatMap((change) => {
    const row = rows.get(change.before.id)
    if (row === undefined) return []
    const carried = labelsBefore.get(row.id) ?? parseFields(row.fields).labelIds ?? []
    const state = eventState(context, row, change.now, carried)
    if (mayBeOlder(row, change.before, state) && !isSame(row, carried, state)) {
      conflicts.push(change)
      return []
    }
    const shown = carried.length > 0 || row.folderId === null ? carried : [row.folderId]
    const isVisible = row.goneAt !== null || !isSame(row, shown, state)
    const { labelIds, listedIn, ...columns } = state
    const after: MessageRow = {
      ...row,
      ...columns,
      goneAt: null,
      apiChange,
      ...(isVisible && { version: row.version + 1, updatedAt: nowMs }),
    }
    if (isVisible) changes.changed(row, after, shown, labelIds)
    return [{ row: after, labelIds: listedIn }]
  })
  const writer = messageWriter(tx, context)
  await writer.remove(
    await copiesAt(
      tx,
      changed.map(({ row }) => row),
    ),
  )
  await writer.storeChanged(changed)
  await changes.record(tx)
  return conflicts
}

/** Rows that sync has stored meanwhile where these messages now are: where a move is a copy and a deletion, it may see both. */
async function copiesAt(tx: Tx, moved: readonly MessageRow[]): Promise<string[]> {
  const own = new Set(moved.map((row) => row.id))
  const folders = new Map<string, { folderId: string; uidValidity: string; uids: number[] }>()
  for (const { folderId, uidValidity, uid } of moved) {
    if (folderId === null || uidValidity === null || uid === null) continue
    const key = `${folderId} ${uidValidity}`
    const { uids } = folders.get(key) ?? { uids: [] }
    folders.set(key, { folderId, uidValidity, uids: [...uids, uid] })
  }
  const found: string[] = []
  for (const { folderId, uidValidity, uids } of folders.values()) {
    found.push(...(await locatedMessages(tx).idsByLocation(folderId, uidValidity, uids)))
  }
  return found.filter((id) => !own.has(id))
}

/** Deletes the rows of messages that the provider has deleted for good. Ignores rows that sync has deleted meanwhile. */
export async function storeApiDeletions(
  tx: Tx,
  context: ApiChangeContext,
  deleted: readonly MessageRow[],
): Promise<void> {
  const store = messageStore(tx)
  const rows = await store.byIds(deleted.map((row) => row.id))
  const labelsBefore = await store.labelIds(rows.map((row) => row.id))
  await numberApiChange(tx, context.accountId, 'deletion')
  await messageWriter(tx, context).remove(rows.map((row) => row.id))
  const changes = changeEvents(context)
  for (const row of rows) changes.deleted(row, labelsBefore.get(row.id) ?? [])
  await changes.record(tx)
}

/** The columns and labels of a message in the state that the provider returned. */
function eventState(
  { labels, accountId, provider }: ApiChangeContext,
  row: MessageRow,
  now: ChangedMessage,
  labelsBefore: readonly string[],
) {
  const paths = new Set(now.folders)
  const carried = labels.filter(({ providerId }) => paths.has(providerId))
  const { folder, isListed } = chooseLocation(carried, provider === 'gmail')
  const labelIds = carried.map(({ id }) => id)
  const flags = { unread: Number(now.unread), starred: Number(now.starred) }
  const folderId = folder?.id ?? null
  if (provider !== 'imap') {
    return {
      ...flags,
      folderId,
      ...locationColumns(row),
      labelIds,
      ...(isFound(row)
        ? { listedIn: [], fields: withFoundLabels(row.fields, labelIds) }
        : { listedIn: isListed ? [...labelIds, allMail(accountId)] : labelIds }),
    }
  }
  // A folder that is not synced has no lists, and sync does not follow what only a search found in a synced one.
  const staysFound = labelsBefore.length === 0 && row.goneAt === null && row.folderId === folderId
  const listedIn = folder?.syncedAs == null || staysFound ? [] : labelIds
  const isKnown = now.location !== null && now.location !== undefined
  const stays = !isKnown && row.folderId === folderId
  const { uidValidity, uid } = now.location ?? { uidValidity: null, uid: null }
  const isByLocation = row.emailIdHash === null
  const location = {
    uidValidity: uidValidity ?? row.uidValidity,
    uid,
    providerMessageId: isKnown && isByLocation ? `${folderId}.${uidValidity}.${uid}` : row.providerMessageId,
  }
  return { ...flags, folderId, ...(stays ? locationColumns(row) : location), labelIds, listedIn }
}

type MessageState = ReturnType<typeof eventState>

function locationColumns({ uidValidity, uid, providerMessageId }: MessageRow) {
  return { uidValidity, uid, providerMessageId }
}

/**
 * Whether the row may show a newer state than the provider returned. An equal row is no proof: sync, or another request, may have read
 * the message after it was changed back, and confirmed the row. Only a new UID shows in the row in any case.
 */
function mayBeOlder(row: MessageRow, before: MessageRow, state: MessageState): boolean {
  const hasChanged = (columns: readonly (keyof MessageRow)[]) => columns.some((name) => row[name] !== before[name])
  if (hasChanged(['version', 'folderId', 'uidValidity', 'uid', 'goneAt'])) return true
  const getsNewUid = row.uidValidity !== null && row.folderId !== state.folderId
  return !getsNewUid && hasChanged(['apiChange', 'confirmations'])
}

function isSame(
  row: MessageRow,
  labelsBefore: readonly string[],
  { unread, starred, folderId, labelIds }: MessageState,
): boolean {
  const hasLabels = labelsBefore.length === labelIds.length && labelIds.every((id) => labelsBefore.includes(id))
  return row.unread === unread && row.starred === starred && row.folderId === folderId && hasLabels
}

/** Collects the message events and the counts for `mailbox.changed`. */
export function changeEvents({ labels, provider, events }: ApiChangeContext) {
  const byId = new Map(labels.map((label) => [label.id, label]))
  const changes = noChanges()
  const folderRole = ({ folderId }: MessageRow) => byId.get(folderId ?? '')?.role ?? null
  const emit = (type: MessageEventType, row: MessageRow, labelIds: readonly string[]) => {
    const folder = byId.get(row.folderId ?? '')?.name ?? null
    changes.events.push(labelledEvent(type, row, { provider, labelIds: [...labelIds].sort(), folder }))
  }
  return {
    changed(before: MessageRow, after: MessageRow, labelsBefore: readonly string[], labelIds: readonly string[]): void {
      for (const type of changeTypes(folderRole(before), folderRole(after))) emit(type, after, labelIds)
      countRelabelled(changes, labelsBefore, labelIds)
    },

    created(type: MessageEventType, row: MessageRow, labelIds: readonly string[]): void {
      emit(type, row, labelIds)
      countIn(changes, labelIds, 'added')
    },

    deleted(row: MessageRow, labelsBefore: readonly string[]): void {
      emit(deletionType(folderRole(row)), { ...row, version: row.version + 1 }, labelsBefore)
      countIn(changes, labelsBefore, 'deleted')
    },

    async record(tx: Tx): Promise<void> {
      // A folder that is not synced has no events.
      const synced = labels.filter(({ syncedAs }) => syncedAs !== null)
      await recordChanges(tx, events, provider, changes, synced)
    },
  }
}
