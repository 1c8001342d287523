import { type ApiChanges, findApiChanges, StaleRead } from '../../../accounts/index.ts'
import type { Dialect, Tx } from '../../../platform/db/index.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { FoundMessage, ProviderName, RemoteMessage } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import type { BodyFetcher } from '../bodies/fetcher.ts'
import { allMail, type MessageRow, messageStore } from '../store.ts'
import { saveDrafts } from '../rows/drafts.ts'
import { locationOf } from '../rows/location.ts'
import { sharesKey } from './match.ts'
import { type IncomingRow, incomingRow, isFound, locationAndFlags, newMessageRow } from '../rows/row.ts'
import { messageWriter } from '../rows/writer.ts'

export interface BackfilledDeps {
  dialect: Dialect
  clock: Clock
  ids: Ids
  requestBodies?: BodyFetcher['request'] | undefined
}

interface BackfilledInto {
  accountId: string
  /** As of before the provider was asked for the messages. */
  apiChanges: ApiChanges
}

/**
 * Stores old messages of a synced folder with labels and counters, without events. Messages that a request has stored enter the lists;
 * listed ones are left to sync. Returns how many entered the lists. Throws `StaleRead` when one of them was perhaps changed through the API.
 */
export async function storeBackfilled(
  tx: Tx,
  deps: BackfilledDeps,
  { accountId, apiChanges, label }: BackfilledInto & { label: LabelRow },
  messages: readonly RemoteMessage[],
): Promise<number> {
  if (messages.length === 0) return 0
  const nowMs = deps.clock.now()
  const store = messageStore(tx)
  const writer = messageWriter(tx, { dialect: deps.dialect, accountId, nowMs })
  // In the order of arrival: ids keep it.
  const incoming = messages
    .map((message) => ({ message, row: incomingRow(message, { accountId, labelId: label.id, nowMs }) }))
    .sort((a, b) => (a.row.uid ?? 0) - (b.row.uid ?? 0))
  const uids = incoming.flatMap(({ row }) => row.uid ?? [])
  const known = await store.byLocation(label.id, incoming[0]?.row.uidValidity ?? '', uids)
  const listed = await store.labelIds(known.map((row) => row.id))
  const unlisted = known.filter((row) => !listed.has(row.id) && row.goneAt === null)
  const byUid = new Map(incoming.map(({ row }) => [row.uid, row]))
  const relocations = unlisted.flatMap((row) => {
    const now = byUid.get(row.uid)
    return now === undefined ? [] : [{ row, folderId: label.id, ...locationAndFlags(now) }]
  })
  const knownUids = new Set(known.map((row) => row.uid))
  const unknown = incoming.filter(({ row }) => !knownUids.has(row.uid))
  await ensureFresh(
    tx,
    { accountId, apiChanges },
    relocations.map(({ row }) => row),
    unknown.map(({ row }) => row),
  )
  await writer.relocate(relocations)
  const added = unknown.map(({ row }) =>
    newMessageRow(row, { accountId, labelId: label.id, id: deps.ids('msg'), nowMs }),
  )
  const stored = await writer.insert(added)
  const ids = [...stored, ...unlisted].map((row) => row.id)
  await deps.requestBodies?.(tx, accountId, ids)
  if (label.role === 'drafts') {
    const idOf = new Map([...stored, ...known].map((row) => [row.uid, row.id]))
    const drafts = incoming.flatMap(({ message, row }) => {
      const messageId = idOf.get(row.uid)
      return messageId === undefined ? [] : [{ messageId, message }]
    })
    await saveDrafts(tx, accountId, drafts)
  }
  return ids.length
}

/** A message that matches no location was perhaps moved or deleted through the API. */
async function ensureFresh(
  tx: Tx,
  { accountId, apiChanges }: BackfilledInto,
  known: readonly Pick<MessageRow, 'apiChange'>[],
  unknown: readonly IncomingRow[],
): Promise<void> {
  const isStale = ({ apiChange }: Pick<MessageRow, 'apiChange'>) => (apiChange ?? 0) > apiChanges.latest
  if (known.some(isStale)) throw new StaleRead()
  const now = await findApiChanges(tx, accountId)
  if (now.latestDeletion > apiChanges.latestDeletion) throw new StaleRead()
  if (now.latest === apiChanges.latest || unknown.length === 0) return
  const changed = (await messageStore(tx).candidates(accountId, unknown)).filter(isStale)
  if (unknown.some((row) => changed.some((one) => sharesKey(row, one)))) throw new StaleRead()
}

/** The same for messages with provider ids. `labels`: those of the account, by provider id. */
export async function storeBackfilledFound(
  tx: Tx,
  deps: BackfilledDeps,
  into: BackfilledInto & { provider: ProviderName; labels: ReadonlyMap<string, LabelRow> },
  found: readonly FoundMessage[],
): Promise<number> {
  if (found.length === 0) return 0
  const { accountId, apiChanges, provider, labels } = into
  const nowMs = deps.clock.now()
  const store = messageStore(tx)
  const writer = messageWriter(tx, { dialect: deps.dialect, accountId, nowMs })
  const arriving = found
    .map(({ message, folders }) => {
      const carried = [...new Set(folders)].flatMap((path) => labels.get(path) ?? [])
      const { folder, isListed } = locationOf(carried, provider === 'gmail')
      const own = carried.map(({ id }) => id)
      const labelIds = isListed ? [...own, allMail(accountId)] : own
      return {
        message,
        labelIds,
        folderId: folder?.id ?? null,
        row: incomingRow(message, { accountId, labelId: '', nowMs }),
      }
    })
    .sort((a, b) => a.row.receivedAt - b.row.receivedAt)
  const rows = await store.byProviderIds(
    accountId,
    arriving.map(({ row }) => row.providerMessageId),
  )
  const known = new Map(rows.map((row) => [row.providerMessageId, row]))
  const searched = rows.filter(isFound)
  await ensureFresh(tx, { accountId, apiChanges }, searched, [])

  const entering = arriving.flatMap(({ row, labelIds, folderId, message }) => {
    const before = known.get(row.providerMessageId)
    if (before !== undefined && !isFound(before)) return []
    const added = newMessageRow(row, { accountId, labelId: folderId, id: before?.id ?? deps.ids('msg'), nowMs })
    return {
      row: before === undefined ? added : replacing(added, before),
      labelIds,
      message,
      isKept: before !== undefined,
    }
  })
  const labelsOf = new Map(entering.map(({ row, labelIds }) => [row.id, labelIds]))
  const kept = entering.filter(({ isKept }) => isKept)
  await writer.update(kept.map(({ row, labelIds }) => ({ row, labelIds, rewritten: true })))
  const stored = await writer.insert(
    entering.filter(({ isKept }) => !isKept).map(({ row }) => row),
    (row) => labelsOf.get(row.id) ?? [],
  )
  const ids = [...stored, ...kept.map(({ row }) => row)].map((row) => row.id)
  await deps.requestBodies?.(tx, accountId, ids)
  const present = new Set(ids)
  const drafts = entering.filter(({ row, message }) => message.draftId !== undefined && present.has(row.id))
  await saveDrafts(
    tx,
    accountId,
    drafts.map(({ row, message }) => ({ messageId: row.id, message })),
  )
  return ids.length
}

/** The new row of a message that a search has stored, under its id. */
function replacing(row: MessageRow, { threadId, version, createdAt }: MessageRow): MessageRow {
  return { ...row, threadId: row.threadId ?? threadId, version: version + 1, createdAt }
}
