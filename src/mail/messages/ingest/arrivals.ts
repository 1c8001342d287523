import type { Tx } from '../../../platform/db/index.ts'
import type { RemoteMessage } from '../../../providers/contract/index.ts'
import { arrivalEvent } from '../announce.ts'
import type { ArrivalType } from '../event-types.ts'
import { saveDraftKeys } from '../rows/draft-keys.ts'
import { type IncomingRow, newMessageRow } from '../rows/row.ts'
import type { MessageWriter } from '../rows/writer.ts'
import type { MessageRow } from '../store.ts'
import type { IngestDeps, Read } from './batch.ts'

/** A message that matches no row which sync covers, as it will be stored. */
export interface Arrival {
  message: RemoteMessage
  row: MessageRow
  labelIds: readonly string[]
  /** The row of the same message that only a search has stored. The message keeps its id, unless another one is reserved. */
  searched?: MessageRow | undefined
}

/** The row of a message that arrives under this id. */
export function arrivalRow(
  incoming: IncomingRow,
  place: { accountId: string; labelId: string | null; id: string; nowMs: number },
  searched?: MessageRow,
): MessageRow {
  const row = newMessageRow(incoming, place)
  if (searched?.id !== place.id) return row
  const { threadId, version, createdAt } = searched
  return { ...row, threadId: row.threadId ?? threadId, version: version + 1, createdAt }
}

/** Returns the rows as stored, without those that the database refused. */
export async function insertArrivals(writer: MessageWriter, arrivals: readonly Arrival[]): Promise<MessageRow[]> {
  const isKept = ({ row, searched }: Arrival) => searched?.id === row.id
  const kept = arrivals.filter(isKept)
  const added = arrivals.filter((arrival) => !isKept(arrival))
  const labels = new Map(added.map(({ row, labelIds }) => [row.id, labelIds]))
  await writer.remove(added.flatMap(({ searched }) => searched?.id ?? []))
  if (kept.length > 0) await writer.update(kept.map(({ row, labelIds }) => ({ row, labelIds, rewritten: true })))
  const inserted = await writer.insert(
    added.map(({ row }) => row),
    ({ id }) => labels.get(id) ?? [],
  )
  return [...inserted, ...kept.map(({ row }) => row)]
}

/** An arrival with the type of event that announces it. Undefined: none. */
export interface SyncArrival extends Arrival {
  type: ArrivalType | undefined
}

/** Requests that received messages be read which are perhaps reports about the delivery of sent ones, and the messages `also`. */
export async function requestReports(
  tx: Tx,
  deps: Pick<IngestDeps, 'requestReports'>,
  accountId: string,
  arrivals: readonly SyncArrival[],
  also: readonly string[] = [],
): Promise<void> {
  const reports = arrivals.filter(({ type, message }) => type === 'message.received' && message.mayBeReport === true)
  await deps.requestReports(tx, accountId, [...reports.map(({ row }) => row.id), ...also])
}

/** Stores by what the next versions of these drafts will be recognised. `findId`: of their rows, undefined where there is none. */
export async function saveVersions(
  tx: Tx,
  accountId: string,
  messages: readonly RemoteMessage[],
  findId: (message: RemoteMessage) => string | undefined,
): Promise<void> {
  const drafts = messages.flatMap((message) => {
    const messageId = findId(message)
    return messageId === undefined ? [] : [{ messageId, message }]
  })
  await saveDraftKeys(tx, accountId, drafts)
}

/** The events of the arrivals that were stored, in the order of `stored`. */
export function arrivalEvents(
  arrivals: readonly SyncArrival[],
  stored: readonly MessageRow[],
  toEvent: (type: ArrivalType, row: MessageRow, arrival: SyncArrival) => Parameters<typeof arrivalEvent>[0],
) {
  const announced = new Map(arrivals.map((arrival) => [arrival.row.id, arrival]))
  return stored.flatMap((row) => {
    const arrival = announced.get(row.id)
    if (arrival?.type === undefined) return []
    return arrivalEvent(toEvent(arrival.type, row, arrival), arrival.message.isAutomatic === true)
  })
}

/** Logs messages that could not be read or stored completely. */
export function warnIncomplete(
  { log }: Pick<IngestDeps, 'log'>,
  { accountId, provider }: Read,
  labelId: string | undefined,
  expected: number,
  stored: readonly MessageRow[],
): void {
  const incomplete = stored.filter((row) => row.error !== null).length
  if (incomplete === 0 && stored.length === expected) return
  log.warn('Some messages could not be read or stored completely.', {
    accountId,
    provider,
    operation: 'sync.folder',
    metadata: { ...(labelId !== undefined && { labelId }), incomplete, notStored: expected - stored.length },
  })
}
