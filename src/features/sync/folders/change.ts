import type { NewEvent } from '../../../events/index.ts'
import type { Tx } from '../../../infra/db/index.ts'
import type { FolderStep, RemoteMessage } from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import {
  type Candidate,
  type IncomingRow,
  incomingRow,
  isVisibleChange,
  locationAndFlags,
  type MessageRow,
  matchMessages,
  messageStore,
  messageWriter,
  newMessageRow,
  type Presence,
  type Relocation,
} from '../../messages/index.ts'
import {
  arrivalType,
  type EventBodies,
  type FolderCounts,
  folderEvent,
  isNewArrival,
  messageEvent,
} from '../announce.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { cursorStore } from '../store.ts'

export interface FolderContext extends OwnedAccount {
  label: LabelRow
  /** What the server said of rows that stand in other folders. */
  presence: Presence
  /** Bodies for events, by uid; empty unless they are wanted. */
  bodies: ReadonlyMap<number, EventBodies>
}

/** A mail just seen may be a row that stands in another folder: ask the server whether it still does. Nothing was stored. */
export class UndecidedMatches extends Error {
  override name = 'UndecidedMatches'
  readonly rows: Candidate[]
  constructor(rows: Candidate[]) {
    super('mails just seen may have been moved here from another folder')
    this.rows = rows
  }
}

/**
 * What one part of a step changes in a folder, collected while it is stored: rows, the counts for `mailbox.changed`, and the events,
 * which `record` writes at the end.
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
  /** Rows that left other folders for this one, by folder. */
  const left = new Map<string, number>()

  const rowsAt = (uids: readonly number[]) =>
    uidValidity === null ? Promise.resolve([]) : store.byLocation(label.id, uidValidity, uids)

  async function reflagRows(rows: readonly MessageRow[], flags: ReadonlyMap<number, Flags>) {
    const changed = await writer.setFlags(rows.map((row) => ({ row, ...(flags.get(row.uid ?? -1) ?? row) })))
    counts.updated += changed.length
    for (const row of changed) events.push(messageEvent('message.updated', row, label, provider))
  }

  /** Known mails, seen again: after a crash, or because the folder was read live before it was kept in step. */
  async function addKnown(rows: readonly MessageRow[], mails: ReadonlyMap<number, IncomingRow>) {
    const labels = await store.labelIds(rows.map((row) => row.id))
    const unlisted = rows.filter((row) => !labels.has(row.id))
    await writer.relocate(
      unlisted.map((row) => ({ row, folderId: label.id, ...locationAndFlags(mails.get(row.uid ?? -1) ?? row) })),
    )
    counts.added += unlisted.length
    await reflagRows(
      rows.filter((row) => labels.has(row.id)),
      new Map([...mails].map(([uid, mail]) => [uid, mail])),
    )
  }

  async function move(placements: readonly Relocation[], standing: ReadonlySet<string>) {
    const placed = await writer.relocate(placements)
    placements.forEach(({ row, ...place }, index) => {
      const after = placed[index]
      if (row.folderId !== label.id || row.goneAt !== null) counts.added += 1
      if (standing.has(row.id) && row.folderId !== null && row.folderId !== label.id)
        left.set(row.folderId, (left.get(row.folderId) ?? 0) + 1)
      if (after === undefined || !isVisibleChange(row, place)) return
      if (row.folderId === label.id && row.goneAt === null) counts.updated += 1
      events.push(messageEvent('message.updated', after, label, provider))
    })
  }

  return {
    uidValidity,

    async remove(uids: readonly number[]): Promise<void> {
      const rows = await rowsAt(uids)
      await writer.markMissing(rows)
      counts.deleted += rows.length
    },

    async reflag(changes: FolderStep['changed']): Promise<void> {
      const rows = await rowsAt(changes.map((change) => change.uid))
      const flags = changes.map(
        ({ uid, unread, starred }) => [uid, { unread: Number(unread), starred: Number(starred) }] as const,
      )
      await reflagRows(rows, new Map(flags))
    },

    async add(mails: readonly RemoteMessage[], refetched: boolean): Promise<void> {
      if (mails.length === 0) return
      // In the order of arrival, which ids keep and events follow.
      const incoming = mails
        .map((mail) => ({ mail, row: incomingRow(mail, { accountId, labelId: label.id, nowMs }) }))
        .sort((a, b) => (a.row.uid ?? 0) - (b.row.uid ?? 0))
      const known = await rowsAt(incoming.flatMap(({ row }) => row.uid ?? []))
      const places = new Set(known.map((row) => row.uid))
      await addKnown(known, new Map(incoming.map(({ row }) => [row.uid ?? -1, row])))

      const unknown = incoming.filter(({ row }) => !places.has(row.uid))
      const keys = unknown.map(({ row }) => row)
      const candidates = await store.candidates(accountId, keys)
      const { matched, copies, undecided } = matchMessages(keys, candidates, label.id, context.presence)
      if (undecided.length > 0) throw new UndecidedMatches(undecided)

      const originals = new Map(
        (await store.byIds([...matched.values()].map((row) => row.id))).map((row) => [row.id, row]),
      )
      const placements = unknown.flatMap(({ row: mail }, index) => {
        const row = originals.get(matched.get(index)?.id ?? '')
        return row === undefined ? [] : [{ row, folderId: label.id, ...locationAndFlags(mail) }]
      })
      const listed = await store.labelIds([...originals.keys()])
      await move(
        placements,
        new Set([...originals.values()].filter((row) => row.uid !== null && listed.has(row.id)).map((row) => row.id)),
      )

      const arrivals = unknown.flatMap(({ mail, row }, index) =>
        matched.has(index)
          ? []
          : [
              {
                isNew: !copies.has(index) && isNewArrival(mail, row, refetched, position, context.syncedAt()),
                row: newMessageRow(row, { accountId, labelId: label.id, id: deps.ids('msg'), nowMs }),
              },
            ],
      )
      const stored = await writer.insert(arrivals.map(({ row }) => row))
      await deps.requestBodies?.(
        tx,
        accountId,
        stored.map((row) => row.id),
      )
      counts.added += stored.length
      warnIncomplete(deps, context, label.id, arrivals.length, stored)
      const news = new Set(arrivals.filter(({ isNew }) => isNew).map(({ row }) => row.id))
      const type = arrivalType(label.role)
      if (type === undefined) return
      for (const row of stored) {
        if (news.has(row.id)) events.push(messageEvent(type, row, label, provider, context.bodies.get(row.uid ?? -1)))
      }
    },

    async record(): Promise<void> {
      const labels = labelStore(tx)
      if (counts.added + counts.updated + counts.deleted > 0) {
        events.push(folderEvent(label, await labels.incrementVersion(label.id), provider, counts))
      }
      const others = await labels.byIds([...left.keys()])
      for (const [id, deleted] of left) {
        const other = others.get(id)
        if (other === undefined) continue
        events.push(folderEvent(other, await labels.incrementVersion(id), provider, { added: 0, updated: 0, deleted }))
      }
      await deps.events.record(tx, events)
    },
  }
}

interface Flags {
  unread: number
  starred: number
}

/** Tells of mails that could not be stored as they are. */
export function warnIncomplete(
  deps: SyncDeps,
  { accountId, provider }: OwnedAccount,
  labelId: string | undefined,
  wanted: number,
  stored: MessageRow[],
) {
  const odd = stored.filter((row) => row.error !== null).length
  if (odd === 0 && stored.length === wanted) return
  deps.log.warn('Some messages could be read or stored only in part', {
    accountId,
    provider,
    operation: 'sync.folder',
    metadata: { ...(labelId !== undefined && { labelId }), partly: odd, notAtAll: wanted - stored.length },
  })
}
