import { type ApiChanges, findApiChanges, StaleRead } from '../../../accounts/index.ts'
import type { NewEvent } from '../../../events/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import type { FoundMessage, MailboxStep, RemoteMessage } from '../../../providers/contract/index.ts'
import { type FolderCounts, folderEvent, type LabelRow, labelStore } from '../../labels/index.ts'
import {
  allMail,
  arrivalEvent,
  arrivalType,
  changeTypes,
  contentOf,
  deletionType,
  draftKey,
  type EventBodies,
  findDrafts,
  hasNewContent,
  type IncomingRow,
  incomingRow,
  isFound,
  type Location,
  labelledEvent,
  locationOf,
  type MessageEventType,
  type MessageRow,
  type MessageUpdate,
  messageStore,
  messageWriter,
  newMessageRow,
  saveDrafts,
  takeReserved,
} from '../../messages/index.ts'
import { isNewArrival } from '../arrivals.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { warnIncomplete } from '../folders/change.ts'
import type { CursorRow } from '../store.ts'

export interface MailboxContext extends OwnedAccount {
  /** The folder being synced. Undefined when the entire mailbox is one scope and messages have many labels. */
  scope: LabelRow | undefined
  /** The labels of the account, by provider id. */
  labels: ReadonlyMap<string, LabelRow>
  /** As of before the provider was asked for the changes. */
  apiChanges: ApiChanges
  /** Bodies for events, by provider message id. Empty unless events include bodies. */
  bodies: ReadonlyMap<string, EventBodies>
}

/** How a message is stored that could not be read before. */
export interface Repair {
  /** It is stored without content, and was not announced. */
  announces: boolean
  isAutomatic: boolean
}

/** The current state of a message at the provider. Absent members did not change. */
type RemoteState = MailboxStep['changed'][number]

/**
 * Stores one part of a step: rows and labels at once. Collects the counts for `mailbox.changed` and the events, which
 * `record` writes at the end. Throws `StaleRead` when a message was changed through the API since it was read.
 */
export function mailboxChange(deps: SyncDeps, tx: Tx, context: MailboxContext) {
  const { accountId, provider, scope } = context
  const nowMs = deps.clock.now()
  const store = messageStore(tx)
  const writer = messageWriter(tx, { dialect: deps.db.dialect, accountId, nowMs })
  const byId = new Map([...context.labels.values()].map((label) => [label.id, label]))
  const counts = new Map<string, FolderCounts>()
  const events: NewEvent[] = []
  /** The ids of messages that are stored as they were read. */
  const confirmed: string[] = []
  /** Messages, where `counts` has them once per label. */
  const totals: FolderCounts = { added: 0, updated: 0, deleted: 0 }

  const locationAt = (labelIds: readonly string[]): Location =>
    locationOf(
      labelIds.flatMap((id) => byId.get(id) ?? []),
      scope === undefined,
    )
  const listedLabels = (labelIds: readonly string[], { isListed }: Location) =>
    isListed ? [...labelIds, allMail(accountId)] : labelIds
  /** Skips labels that no listing contained. */
  const labelIdsOf = (paths: readonly string[]) => [
    ...new Set(paths.flatMap((path) => context.labels.get(path)?.id ?? [])),
  ]

  const isStale = ({ apiChange }: MessageRow) => (apiChange ?? 0) > context.apiChanges.latest

  function count(labelIds: Iterable<string>, kind: keyof FolderCounts): void {
    for (const id of labelIds) {
      const sums = counts.get(id) ?? { added: 0, updated: 0, deleted: 0 }
      counts.set(id, { ...sums, [kind]: sums[kind] + 1 })
    }
  }

  function emit(type: MessageEventType, row: MessageRow, labelIds: readonly string[]): void {
    events.push(eventOf(type, row, labelIds))
  }

  function eventOf(type: MessageEventType, row: MessageRow, labelIds: readonly string[]) {
    const folder = byId.get(row.folderId ?? '')?.name ?? null
    const body = context.bodies.get(row.providerMessageId)
    return labelledEvent(type, row, { provider, labelIds: [...labelIds], folder }, body)
  }

  /** Returns the changed row. Undefined when nothing changed. */
  function updateOf(
    row: MessageRow,
    labelsBefore: readonly string[],
    remote: RemoteState,
    incoming?: IncomingRow,
    repair?: Repair,
  ): MessageUpdate | undefined {
    const isFoundAgain = row.goneAt !== null
    const labelIds = remote.folders === undefined ? labelsBefore : labelIdsOf(remote.folders)
    const now = locationAt(labelIds)
    const old = byId.get(row.folderId ?? '')
    const folderId = now.folder?.id ?? null
    const unread = remote.unread === undefined ? row.unread : Number(remote.unread)
    const starred = remote.starred === undefined ? row.starred : Number(remote.starred)
    const threadId = incoming?.threadId ?? row.threadId
    // Only drafts change their content, and a draft becomes the sent message.
    const isDraft = old?.role === 'drafts' || now.folder?.role === 'drafts'
    const providerMessageId = incoming?.providerMessageId ?? row.providerMessageId
    const isNewVersion = providerMessageId !== row.providerMessageId
    const isRepaired = repair !== undefined && row.error !== null && incoming?.error === null
    const mayChange = isDraft || isRepaired
    const contentChanged = incoming !== undefined && (isNewVersion || (mayChange && hasNewContent(row, incoming)))
    const labelsChanged = !isFoundAgain && !haveSameMembers(labelsBefore, labelIds)
    const folderChanged = row.folderId !== folderId
    const isVisible =
      folderChanged ||
      labelsChanged ||
      contentChanged ||
      row.unread !== unread ||
      row.starred !== starred ||
      row.threadId !== threadId
    if (!isVisible && !isFoundAgain) {
      confirmed.push(row.id)
      return undefined
    }
    if (isStale(row)) throw new StaleRead()
    totals.updated += 1

    const after: MessageRow = {
      ...row,
      ...(contentChanged && contentOf(incoming)),
      providerMessageId,
      folderId,
      threadId,
      unread,
      starred,
      goneAt: null,
      ...(isVisible && { version: row.version + 1, updatedAt: nowMs }),
    }
    const kept = new Set(isFoundAgain ? [] : labelsBefore)
    count(
      labelIds.filter((id) => !kept.has(id)),
      'added',
    )
    count(
      [...kept].filter((id) => !labelIds.includes(id)),
      'deleted',
    )
    if (isVisible) {
      count(
        labelIds.filter((id) => kept.has(id)),
        'updated',
      )
      const role = now.folder?.role ?? null
      const arrival = repair?.announces ? arrivalType(role) : undefined
      if (arrival !== undefined) {
        events.push(arrivalEvent(eventOf(arrival, after, labelIds), repair?.isAutomatic === true))
      } else for (const type of changeTypes(old?.role ?? null, role)) emit(type, after, labelIds)
    }
    const touchesLabels =
      isFoundAgain || labelsChanged || contentChanged || row.unread !== unread || row.threadId !== threadId
    return { row: after, rewritten: contentChanged, ...(touchesLabels && { labelIds: listedLabels(labelIds, now) }) }
  }

  /** An unknown message was perhaps deleted through the API. */
  async function ensureNoDeletion(): Promise<void> {
    const now = await findApiChanges(tx, accountId)
    if (now.latestDeletion > context.apiChanges.latestDeletion) throw new StaleRead()
  }

  async function knownRows(ids: readonly string[]) {
    const rows = await store.byProviderIds(accountId, ids)
    return { rows, labelsBefore: await store.labelIds(rows.map((row) => row.id)) }
  }

  /** The stored drafts of which these unknown messages are new versions, by the id of the new version. */
  async function earlierVersions(unknown: readonly RemoteMessage[]): Promise<Map<string, MessageRow>> {
    const keys = unknown.flatMap((message) => {
      const key = message.draftId === undefined ? null : draftKey(message)
      return key === null || message.providerMessageId === null ? [] : [[message.providerMessageId, key] as const]
    })
    if (keys.length === 0) return new Map()
    const ids = await findDrafts(
      tx,
      accountId,
      keys.map(([, key]) => key),
    )
    const rows = new Map((await store.byIds([...new Set(ids.values())])).map((row) => [row.id, row]))
    return new Map(
      keys.flatMap(([id, key]) => {
        const row = rows.get(ids.get(key) ?? '')
        return row === undefined ? [] : [[id, row]]
      }),
    )
  }

  return {
    /** Removes messages from the scope. If the scope is a folder, they may be found in another one, or have been already. */
    async remove(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      const { rows, labelsBefore } = await knownRows(ids)
      if (scope !== undefined) {
        const leaving = rows.filter((row) => row.folderId === scope.id && row.goneAt === null && !isFound(row))
        if (leaving.some(isStale)) throw new StaleRead()
        await writer.markMissing(leaving.map((row) => row.id))
        totals.deleted += leaving.length
        for (const _ of leaving) count([scope.id], 'deleted')
        return
      }
      await writer.remove(rows.map((row) => row.id))
      for (const row of rows) {
        if (isFound(row)) continue
        totals.deleted += 1
        const labelIds = labelsBefore.get(row.id) ?? []
        count(labelIds, 'deleted')
        const type = deletionType(byId.get(row.folderId ?? '')?.role ?? null)
        emit(type, { ...row, version: row.version + 1 }, labelIds)
      }
    },

    /**
     * Updates stored messages. Ignores unknown ones, and missing ones, which come back only as complete messages. Messages that only a
     * search found change without an event.
     */
    async change(changes: readonly RemoteState[]): Promise<void> {
      if (changes.length === 0) return
      const remote = new Map(changes.map((one) => [one.providerMessageId, one]))
      const { rows, labelsBefore } = await knownRows([...remote.keys()])
      const flagsOf = ({ providerMessageId, unread, starred }: MessageRow) => {
        const now = remote.get(providerMessageId)
        return { unread: Number(now?.unread ?? unread), starred: Number(now?.starred ?? starred) }
      }
      await writer.syncFlags(rows.filter(isFound).map((row) => ({ row, ...flagsOf(row) })))
      await writer.update(
        rows.flatMap((row) => {
          const one = remote.get(row.providerMessageId)
          return one === undefined || row.goneAt !== null || isFound(row)
            ? []
            : (updateOf(row, labelsBefore.get(row.id) ?? [], one) ?? [])
        }),
      )
    },

    /** `repair`: the message could not be read before. */
    async find(
      found: readonly FoundMessage[],
      refetched: boolean,
      cursorRow: CursorRow | undefined,
      repair?: Repair,
    ): Promise<void> {
      if (found.length === 0) return
      const messages = found.map(({ message, folders }) => ({
        message,
        incoming: incomingRow(message, { accountId, labelId: '', nowMs }),
        labelIds: labelIdsOf(folders),
        remote: {
          providerMessageId: message.providerMessageId,
          unread: message.unread,
          starred: message.starred,
          folders,
        },
      }))
      const rows = await store.byProviderIds(
        accountId,
        messages.map(({ incoming }) => incoming.providerMessageId),
      )
      // Messages that only a search has stored keep their id, and arrive otherwise like unknown ones.
      const searched = new Map(rows.filter(isFound).map((row) => [row.providerMessageId, row]))
      const known = new Map(rows.filter((row) => !isFound(row)).map((row) => [row.providerMessageId, row]))
      const versions = await earlierVersions(
        messages.flatMap(({ message }) => (known.has(message.providerMessageId) ? [] : message)),
      )
      for (const [id, row] of versions) if (!known.has(row.providerMessageId)) known.set(id, row)
      const labelsBefore = await store.labelIds([...known.values()].map((row) => row.id))
      const updates = messages.flatMap(({ incoming, remote }) => {
        const row = known.get(incoming.providerMessageId)
        return row === undefined ? [] : (updateOf(row, labelsBefore.get(row.id) ?? [], remote, incoming, repair) ?? [])
      })
      await writer.update(updates)

      // In the order of arrival, so that ids and events are in that order.
      const unknown = messages
        .filter(({ incoming }) => !known.has(incoming.providerMessageId))
        .sort((a, b) => a.incoming.receivedAt - b.incoming.receivedAt)
      const reserved = await takeReserved(
        tx,
        accountId,
        unknown.map(({ message, labelIds }) => ({
          message,
          roles: labelIds.map((labelId) => byId.get(labelId)?.role ?? null),
        })),
      )
      const arrivals = unknown.flatMap(({ message, incoming, labelIds }, index) => {
        const reservation = reserved.get(index)
        if (reservation === 'hide') return []
        const location = locationAt(labelIds)
        const id = reservation?.take ?? searched.get(incoming.providerMessageId)?.id ?? deps.ids('msg')
        const isNew = isNewArrival(message, incoming, refetched, cursorRow, context.syncedAt())
        const type = isNew ? arrivalType(location.folder?.role ?? null) : undefined
        return [
          {
            row: newMessageRow(incoming, { accountId, labelId: location.folder?.id ?? null, id, nowMs }),
            labelIds,
            location,
            mayBeReport: message.mayBeReport === true,
            isAutomatic: message.isAutomatic === true,
            // A message to oneself is in the inbox too, and was sent all the same.
            type: reservation?.as === 'sent' ? ('message.sent' as const) : type,
          },
        ]
      })
      if (arrivals.length > 0) await ensureNoDeletion()
      const byRow = new Map(arrivals.map((arrival) => [arrival.row.id, arrival]))
      const listedIn = ({ id }: MessageRow) => {
        const arrival = byRow.get(id)
        return arrival === undefined ? [] : listedLabels(arrival.labelIds, arrival.location)
      }
      const isKept = ({ row }: { row: MessageRow }) => searched.get(row.providerMessageId)?.id === row.id
      const kept = arrivals.filter(isKept).map(({ row }) => keptRow(row, searched.get(row.providerMessageId)))
      const replaced = arrivals.filter((arrival) => !isKept(arrival))
      await writer.remove(replaced.flatMap(({ row }) => searched.get(row.providerMessageId)?.id ?? []))
      await writer.update(kept.map((row) => ({ row, labelIds: listedIn(row), rewritten: true })))
      const added = await writer.insert(
        replaced.map(({ row }) => row),
        listedIn,
      )
      const reports = arrivals.filter(({ type, mayBeReport }) => type === 'message.received' && mayBeReport)
      const repaired = repair === undefined || !messages.some(({ message }) => message.mayBeReport) ? [] : updates
      await deps.requestReports(
        tx,
        accountId,
        [...reports, ...repaired].map(({ row }) => row.id),
      )
      const stored = [...added, ...kept]
      const edited = updates.filter((one) => one.rewritten).map(({ row }) => row)
      await deps.requestBodies?.(
        tx,
        accountId,
        [...stored, ...edited].map((row) => row.id),
      )
      const idsOf = new Map([...known, ...stored.map((row) => [row.providerMessageId, row] as const)])
      await saveDrafts(
        tx,
        accountId,
        messages.flatMap(({ message }) => {
          const row = message.draftId === undefined ? undefined : idsOf.get(message.providerMessageId)
          return row === undefined ? [] : [{ messageId: row.id, message }]
        }),
      )
      warnIncomplete(deps, context, scope?.id, arrivals.length, stored)
      for (const row of stored) {
        const { labelIds = [], type, isAutomatic = false } = byRow.get(row.id) ?? {}
        totals.added += 1
        count(labelIds, 'added')
        if (type !== undefined) events.push(arrivalEvent(eventOf(type, row, labelIds), isAutomatic))
      }
    },

    /** Returns how many messages changed. */
    async record(): Promise<FolderCounts> {
      await writer.confirm(confirmed)
      const labels = labelStore(tx)
      for (const [id, changed] of counts) {
        const label = byId.get(id)
        if (label !== undefined) events.push(folderEvent(label, await labels.incrementVersion(id), provider, changed))
      }
      await deps.events.record(tx, events)
      return totals
    },
  }
}

/** The row of a message that sync finds, in place of the one that a search stored. */
function keptRow(row: MessageRow, { threadId, version, createdAt }: Partial<MessageRow> = {}): MessageRow {
  return {
    ...row,
    threadId: row.threadId ?? threadId ?? null,
    version: (version ?? 0) + 1,
    createdAt: createdAt ?? row.createdAt,
  }
}

function haveSameMembers(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one))
}
