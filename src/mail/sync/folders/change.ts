import { type ApiChanges, findApiChanges, StaleRead } from '../../../accounts/index.ts'
import type { NewEvent } from '../../../events/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import type { FolderRole, FolderStep, RemoteMessage } from '../../../providers/contract/index.ts'
import { type FolderCounts, folderEvent, type LabelRow, labelStore } from '../../labels/index.ts'
import {
  arrivalEvent,
  arrivalType,
  type Candidate,
  changeTypes,
  contentOf,
  copyCandidates,
  copyKey,
  draftKey,
  type EventBodies,
  findDrafts,
  hasNewContent,
  type IncomingRow,
  incomingRow,
  isVisibleChange,
  locationAndFlags,
  type MessageRow,
  matchMessages,
  messageEvent,
  messageStore,
  messageWriter,
  newMessageRow,
  type Presence,
  type Relocation,
  saveDrafts,
  sharesKey,
  takeReserved,
  wasDeliveredApart,
} from '../../messages/index.ts'
import { isNewArrival } from '../arrivals.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { cursorStore } from '../store.ts'

export interface FolderContext extends OwnedAccount {
  label: LabelRow
  /** Whether rows stored in other folders are still there, as reported by the server. */
  presence: Presence
  /** As of before the server was asked for the messages. */
  apiChanges: ApiChanges
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

/**
 * Stores the changes of one part of a step and collects its events and the counts for `mailbox.changed`; `record` writes both.
 * Throws `StaleRead` when a message was changed through the API since it was read.
 */
export async function folderChange(deps: SyncDeps, tx: Tx, context: FolderContext, added: readonly RemoteMessage[]) {
  const { accountId, label, provider } = context
  const nowMs = deps.clock.now()
  const store = messageStore(tx)
  const writer = messageWriter(tx, { dialect: deps.db.dialect, accountId, nowMs })
  const position = await cursorStore(tx).find(accountId, label.id)
  const uidValidity = added[0]?.location?.uidValidity ?? position?.uidValidity ?? null
  const events: NewEvent[] = []
  const counts: FolderCounts = { added: 0, updated: 0, deleted: 0 }
  /** Number of messages moved here from each other folder. */
  const movedFrom = new Map<string, number>()

  const rowsAt = (uids: readonly number[]) =>
    uidValidity === null ? Promise.resolve([]) : store.byLocation(label.id, uidValidity, uids)

  const isStale = ({ apiChange }: Pick<Candidate, 'apiChange'>) => (apiChange ?? 0) > context.apiChanges.latest

  async function updateFlags(rows: readonly MessageRow[], flags: ReadonlyMap<number, Flags>) {
    const changed = await writer.syncFlags(rows.map((row) => ({ row, ...(flags.get(row.uid ?? -1) ?? row) })))
    if (changed.some(isStale)) throw new StaleRead()
    counts.updated += changed.length
    for (const row of changed) pushChange(row, label.role)
  }

  function pushChange(row: MessageRow, roleBefore: FolderRole | null) {
    for (const type of changeTypes(roleBefore, label.role)) events.push(messageEvent(type, row, label, provider))
  }

  /** Messages stored before: by a sync that crashed, or by a live read. */
  async function addKnown(rows: readonly MessageRow[], incoming: ReadonlyMap<number, IncomingRow>) {
    const labels = await store.labelIds(rows.map((row) => row.id))
    const unlisted = rows.filter((row) => !labels.has(row.id))
    await writer.relocate(
      unlisted.map((row) => ({ row, folderId: label.id, ...locationAndFlags(incoming.get(row.uid ?? -1) ?? row) })),
    )
    counts.added += unlisted.length
    await updateFlags(
      rows.filter((row) => labels.has(row.id)),
      incoming,
    )
  }

  /** `present`: ids of rows that still have a location in their folder. */
  async function move(relocations: readonly Relocation[], present: ReadonlySet<string>) {
    if (relocations.some(({ row, ...location }) => isStale(row) && isVisibleChange(row, location)))
      throw new StaleRead()
    const moved = await writer.relocate(relocations)
    const folders = await labelStore(tx).byIds([...new Set(relocations.flatMap(({ row }) => row.folderId ?? []))])
    relocations.forEach(({ row, ...location }, index) => {
      const after = moved[index]
      if (row.folderId !== label.id || row.goneAt !== null) counts.added += 1
      if (present.has(row.id) && row.folderId !== null && row.folderId !== label.id)
        movedFrom.set(row.folderId, (movedFrom.get(row.folderId) ?? 0) + 1)
      if (after === undefined || !isVisibleChange(row, location)) return
      if (row.folderId === label.id && row.goneAt === null) counts.updated += 1
      pushChange(after, folders.get(row.folderId ?? '')?.role ?? null)
    })
  }

  /** By index: the stored draft of which an unknown message is a new version, or null for a version older than another one. */
  async function draftVersions(unknown: readonly Incoming[]): Promise<Map<number, MessageRow | null>> {
    const versions = new Map<number, MessageRow | null>()
    if (label.role !== 'drafts') return versions
    const keys = unknown.map(({ message }) => draftKey(message))
    const ids = await findDrafts(
      tx,
      accountId,
      keys.filter((key) => key !== null),
    )
    const rows = new Map((await store.byIds([...new Set(ids.values())])).map((row) => [row.id, row]))
    const seen = new Set<string>()
    for (const [index, key] of [...keys.entries()].reverse()) {
      if (key === null) continue
      const row = rows.get(ids.get(key) ?? '')
      const stored = row?.folderId === label.id ? row : undefined
      // A program saves a new version before it deletes the old one, so both are there for a moment. The highest UID is the newest.
      const isOlder = stored?.uidValidity === uidValidity && (stored.uid ?? 0) > (unknown[index]?.row.uid ?? 0)
      if (seen.has(key) || isOlder) versions.set(index, null)
      else if (stored !== undefined) versions.set(index, stored)
      seen.add(key)
    }
    return versions
  }

  /** Stores the new content of edited drafts. */
  async function rewrite(edits: readonly { row: MessageRow; incoming: IncomingRow }[]): Promise<void> {
    const updates = edits.map(({ row, incoming }) => ({
      labelIds: [label.id],
      rewritten: true,
      row: {
        ...row,
        ...contentOf(incoming),
        ...locationAndFlags(incoming),
        emailIdHash: incoming.emailIdHash,
        threadId: incoming.threadId ?? row.threadId,
        goneAt: null,
        version: row.version + 1,
        updatedAt: nowMs,
      },
    }))
    await writer.update(updates)
    await deps.requestBodies?.(
      tx,
      accountId,
      updates.map(({ row }) => row.id),
    )
    for (const { row } of edits) counts[row.goneAt === null ? 'updated' : 'added'] += 1
    for (const { row } of updates) pushChange(row, label.role)
  }

  /** Without drafts that still exist: the message that was sent of one is no copy, even where a program keeps the draft's Date. */
  async function movableCopies(messages: readonly IncomingRow[]): Promise<Candidate[]> {
    const candidates = await copyCandidates(tx, accountId, messages)
    const folders = await labelStore(tx).byIds([...new Set(candidates.flatMap((row) => row.folderId ?? []))])
    const isDraft = (row: Candidate) => folders.get(row.folderId ?? '')?.role === 'drafts'
    return candidates.filter((row) => !isDraft(row) || context.presence.get(row.id) !== 'present')
  }

  /** A message that matches no row was perhaps moved or deleted through the API. */
  async function ensureFresh(unmatched: readonly IncomingRow[], candidates: readonly Candidate[]) {
    const changed = candidates.filter(isStale)
    if (unmatched.some((one) => changed.some((row) => sharesKey(one, row)))) throw new StaleRead()
    const now = await findApiChanges(tx, accountId)
    if (now.latestDeletion > context.apiChanges.latestDeletion) throw new StaleRead()
  }

  return {
    uidValidity,
    position,

    async remove(uids: readonly number[]): Promise<void> {
      if (uidValidity === null) return
      const ids = await store.idsByLocation(label.id, uidValidity, uids)
      await writer.markMissing(ids)
      counts.deleted += ids.length
    },

    async setFlags(changes: FolderStep['changed']): Promise<void> {
      const rows = await rowsAt(changes.map((change) => change.uid))
      const flags = changes.map(
        ({ uid, unread, starred }) => [uid, { unread: Number(unread), starred: Number(starred) }] as const,
      )
      await updateFlags(rows, new Map(flags))
    },

    /** `knowsNew`: whether a message is new is decided, whatever its age. */
    async add(messages: readonly RemoteMessage[], refetched: boolean, { knowsNew = false } = {}): Promise<void> {
      if (messages.length === 0) return
      // In the order of arrival: ids and events keep it.
      const incoming = messages
        .map((message) => ({ message, row: incomingRow(message, { accountId, labelId: label.id, nowMs }) }))
        .sort((a, b) => (a.row.uid ?? 0) - (b.row.uid ?? 0))
      const atLocations = await rowsAt(incoming.flatMap(({ row }) => row.uid ?? []))
      const knownUids = new Set(atLocations.map((row) => row.uid))
      await addKnown(atLocations, new Map(incoming.map(({ row }) => [row.uid ?? -1, row])))

      const unlisted = incoming.filter(({ row }) => !knownUids.has(row.uid))
      const versions = await draftVersions(unlisted)
      const edits = unlisted.flatMap(({ row: incoming }, index) => {
        const row = versions.get(index)
        return row == null ? [] : [{ row, incoming }]
      })
      await rewrite(edits.filter(({ row, incoming }) => hasNewContent(row, incoming)))
      const resaved = edits.filter(({ row, incoming }) => !hasNewContent(row, incoming))

      const unknown = unlisted.filter((_, index) => !versions.has(index))
      const keys = unknown.map(({ row }) => row)
      const known = await store.candidates(accountId, keys)
      const isKnown = (row: IncomingRow) => known.some((one) => sharesKey(row, one) && !wasDeliveredApart(row, one))
      const strangers = keys.filter((row) => !isKnown(row))
      const knownIds = new Set(known.map((row) => row.id))
      const copied = (await movableCopies(strangers)).filter((row) => !knownIds.has(row.id))
      const candidates = [...known, ...copied]
      const matchable = keys.map((row) => ({ ...row, copyKey: copyKey(row) }))
      const { matched, copies, undecided } = matchMessages(matchable, candidates, label.id, context.presence)
      if (undecided.length > 0) throw new UndecidedMatches(undecided)

      const unmatched = unknown.flatMap((one, index) => (matched.has(index) ? [] : [{ ...one, index }]))
      const unmatchedRows = unmatched.map(({ row }) => row)
      if (unmatched.length > 0) await ensureFresh(unmatchedRows, candidates)

      const originals = new Map(
        (await store.byIds([...matched.values()].map((row) => row.id))).map((row) => [row.id, row]),
      )
      const relocations = unknown.flatMap(({ row: arrived }, index) => {
        const row = originals.get(matched.get(index)?.id ?? '')
        return row === undefined ? [] : [{ row, folderId: label.id, ...locationAndFlags(arrived) }]
      })
      for (const { row, incoming } of resaved) {
        originals.set(row.id, row)
        relocations.push({ row, folderId: label.id, ...locationAndFlags(incoming) })
      }
      const listed = await store.labelIds([...originals.keys()])
      await move(
        relocations,
        new Set([...originals.values()].filter((row) => row.uid !== null && listed.has(row.id)).map((row) => row.id)),
      )

      const reserved = await takeReserved(
        tx,
        accountId,
        unmatched.map(({ message }) => ({ message, roles: [label.role] })),
      )
      const arrivals = unmatched.flatMap(({ message, row, index }, at) => {
        const reservation = reserved.get(at)
        if (reservation === 'hide') return []
        const isArrival = knowsNew ? message.isNew : isNewArrival(message, row, refetched, position, context.syncedAt())
        const isNew = !copies.has(index) && isArrival
        const id = reservation?.take ?? deps.ids('msg')
        return [
          {
            isNew: isNew || reservation !== undefined,
            mayBeReport: message.mayBeReport === true,
            isAutomatic: message.isAutomatic === true,
            row: newMessageRow(row, { accountId, labelId: label.id, id, nowMs }),
          },
        ]
      })
      const stored = await writer.insert(arrivals.map(({ row }) => row))
      await deps.requestBodies?.(
        tx,
        accountId,
        stored.map((row) => row.id),
      )
      if (label.role === 'drafts') {
        const stored = new Map(
          (await rowsAt(unlisted.flatMap(({ row }) => row.uid ?? []))).map((row) => [row.uid, row.id]),
        )
        await saveDrafts(
          tx,
          accountId,
          unlisted.flatMap(({ message, row }) => {
            const messageId = stored.get(row.uid)
            return messageId === undefined ? [] : [{ messageId, message }]
          }),
        )
      }
      counts.added += stored.length
      warnIncomplete(deps, context, label.id, arrivals.length, stored)
      const newArrivals = arrivals.filter(({ isNew }) => isNew)
      const newById = new Map(newArrivals.map((arrival) => [arrival.row.id, arrival]))
      const type = arrivalType(label.role)
      if (type === undefined) return
      if (type === 'message.received') {
        const reports = newArrivals.flatMap(({ mayBeReport, row }) => (mayBeReport ? row.id : []))
        await deps.requestReports(tx, accountId, reports)
      }
      for (const row of stored) {
        const arrival = newById.get(row.id)
        if (arrival === undefined) continue
        const event = messageEvent(type, row, label, provider, context.bodies.get(row.uid ?? -1))
        events.push(arrivalEvent(event, arrival.isAutomatic))
      }
    },

    /** Returns what changed in the folder. */
    async record(): Promise<FolderCounts> {
      const labels = labelStore(tx)
      if (counts.added + counts.updated + counts.deleted > 0) {
        events.push(folderEvent(label, await labels.incrementVersion(label.id), provider, counts))
      }
      const others = await labels.byIds([...movedFrom.keys()])
      for (const [id, deleted] of movedFrom) {
        const other = others.get(id)
        if (other === undefined) continue
        events.push(folderEvent(other, await labels.incrementVersion(id), provider, { added: 0, updated: 0, deleted }))
      }
      await deps.events.record(tx, events)
      return counts
    },
  }
}

/** A message of a step and its columns. */
interface Incoming {
  message: RemoteMessage
  row: IncomingRow
}

interface Flags {
  unread: number
  starred: number
}

/** Logs messages that could not be read or stored completely. */
export function warnIncomplete(
  deps: SyncDeps,
  { accountId, provider }: OwnedAccount,
  labelId: string | undefined,
  expected: number,
  stored: MessageRow[],
) {
  const incomplete = stored.filter((row) => row.error !== null).length
  if (incomplete === 0 && stored.length === expected) return
  deps.log.warn('Some messages could not be read or stored completely.', {
    accountId,
    provider,
    operation: 'sync.folder',
    metadata: { ...(labelId !== undefined && { labelId }), incomplete, notStored: expected - stored.length },
  })
}
