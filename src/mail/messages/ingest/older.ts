import { findApiChanges, StaleRead } from '../../../accounts/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import type { FoundMessage, RemoteMessage } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { chooseLocation } from '../rows/label-location.ts'
import { locatedMessages } from '../rows/located-messages.ts'
import { type IncomingRow, incomingRow, isFound, locationAndFlags } from '../rows/row.ts'
import type { MessageRow } from '../store.ts'
import { type Arrival, arrivalRow, insertArrivals, saveVersions } from './arrivals.ts'
import { type Batch, type IngestDeps, isStale, openBatch, type Read } from './batch.ts'
import { listedLabels } from './id-mailbox-batch.ts'
import { sharesKeyWith } from './matching/match.ts'

type OlderDeps = Pick<IngestDeps, 'db' | 'clock' | 'ids' | 'requestBodies'>

type OlderBatch = Batch<Read, OlderDeps>

/**
 * Stores old messages of a synced folder with labels and counters, without events. Messages that a request has stored enter the lists;
 * listed ones are left to sync. Returns how many entered the lists. Throws `StaleRead` when one of them was perhaps changed through the API.
 */
export async function ingestOlderFolder(
  tx: Tx,
  deps: OlderDeps,
  read: Read & { label: LabelRow },
  messages: readonly RemoteMessage[],
): Promise<number> {
  if (messages.length === 0) return 0
  const { accountId, label } = read
  const batch = openBatch(tx, deps, read)
  const { store, writer, nowMs } = batch
  // In the order of arrival: ids keep it.
  const incoming = messages
    .map((message) => ({ message, row: incomingRow(message, { accountId, labelId: label.id, nowMs }) }))
    .sort((a, b) => (a.row.uid ?? 0) - (b.row.uid ?? 0))
  const uids = incoming.flatMap(({ row }) => row.uid ?? [])
  const located = await locatedMessages(tx).byLocation(label.id, incoming[0]?.row.uidValidity ?? '', uids)
  const listed = await store.labelIds(located.map((row) => row.id))
  const unlisted = located.filter((row) => !listed.has(row.id) && row.goneAt === null)
  const locatedUids = new Set(located.map((row) => row.uid))
  const unknown = incoming.filter(({ row }) => !locatedUids.has(row.uid))
  await ensureFresh(
    batch,
    unlisted,
    unknown.map(({ row }) => row),
  )
  const byUid = new Map(incoming.map(({ row }) => [row.uid, row]))
  await writer.relocate(
    unlisted.flatMap((row) => {
      const now = byUid.get(row.uid)
      return now === undefined ? [] : [{ row, folderId: label.id, ...locationAndFlags(now) }]
    }),
  )
  const arrivals = unknown.map(({ message, row }) => ({
    message,
    row: arrivalRow(row, { accountId, labelId: label.id, id: deps.ids('msg'), nowMs }),
    labelIds: [label.id],
  }))
  const stored = await insertArrivals(writer, arrivals)
  const entered = [...stored, ...unlisted].map((row) => row.id)
  await deps.requestBodies?.(tx, accountId, entered)
  if (label.role === 'drafts') {
    const idByUid = new Map([...stored, ...located].map((row) => [row.uid, row.id]))
    await saveVersions(tx, accountId, messages, ({ location }) => idByUid.get(location?.uid ?? null))
  }
  return entered.length
}

interface MailboxRead extends Read {
  /** The labels of the account, by provider id. */
  labels: ReadonlyMap<string, LabelRow>
}

/** The same for messages with ids. */
export async function ingestOlderMailbox(
  tx: Tx,
  deps: OlderDeps,
  read: MailboxRead,
  found: readonly FoundMessage[],
): Promise<number> {
  if (found.length === 0) return 0
  const { accountId } = read
  const batch = openBatch(tx, deps, read)
  const { store, writer, nowMs } = batch
  const incoming = found
    .map((one) => ({ ...one, row: incomingRow(one.message, { accountId, labelId: '', nowMs }) }))
    .sort((a, b) => a.row.receivedAt - b.row.receivedAt)
  const rows = await store.byProviderIds(
    accountId,
    incoming.map(({ row }) => row.providerMessageId),
  )
  await ensureFresh(batch, rows.filter(isFound), [])
  const earlier = new Map(rows.map((row) => [row.providerMessageId, row]))
  const arrivals = incoming.flatMap(({ message, folders, row }): Arrival[] => {
    const before = earlier.get(row.providerMessageId)
    return before !== undefined && !isFound(before) ? [] : [olderArrival(batch, message, row, folders, before)]
  })
  const stored = await insertArrivals(writer, arrivals)
  const entered = new Map(stored.map((row) => [row.providerMessageId, row.id]))
  await deps.requestBodies?.(tx, accountId, [...entered.values()])
  await saveVersions(
    tx,
    accountId,
    found.flatMap(({ message }) => (message.draftId === undefined ? [] : message)),
    ({ providerMessageId }) => entered.get(providerMessageId ?? ''),
  )
  return stored.length
}

/** `searched`: the row of the message that a search has stored, whose id it keeps. */
function olderArrival(
  { deps, read, nowMs }: Batch<MailboxRead, OlderDeps>,
  message: RemoteMessage,
  incoming: IncomingRow,
  folders: readonly string[],
  searched: MessageRow | undefined,
): Arrival {
  const { accountId, provider, labels } = read
  const carried = [...new Set(folders)].flatMap((path) => labels.get(path) ?? [])
  const location = chooseLocation(carried, provider === 'gmail')
  const id = searched?.id ?? deps.ids('msg')
  return {
    message,
    row: arrivalRow(incoming, { accountId, labelId: location.folder?.id ?? null, id, nowMs }, searched),
    labelIds: listedLabels(
      accountId,
      carried.map((label) => label.id),
      location,
    ),
    searched,
  }
}

/** A message that matches no location was perhaps moved or deleted through the API. */
async function ensureFresh(
  batch: OlderBatch,
  stored: readonly MessageRow[],
  unknown: readonly IncomingRow[],
): Promise<void> {
  const { tx, read, store } = batch
  if (stored.some((row) => isStale(batch, row))) throw new StaleRead()
  const now = await findApiChanges(tx, read.accountId)
  if (now.latestDeletion > read.apiChanges.latestDeletion) throw new StaleRead()
  if (now.latest === read.apiChanges.latest || unknown.length === 0) return
  const changed = (await store.candidates(read.accountId, unknown)).filter((row) => isStale(batch, row))
  if (unknown.some(sharesKeyWith(changed))) throw new StaleRead()
}
