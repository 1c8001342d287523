import type { Recorder } from '../../../events/index.ts'
import type { Db, Tx } from '../../../platform/db/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type FolderLiveReads,
  ProviderError,
  type ProviderName,
  type RemoteMessage,
} from '../../../providers/contract/index.ts'
import { folderEvent, type LabelRow, labelStore } from '../../labels/index.ts'
import { arrivalEvent, messageEvent } from '../announce.ts'
import type { BodyFetcher } from '../bodies/fetcher.ts'
import { arrivalType, changeTypes } from '../event-types.ts'
import { type MessageRow, messageStore } from '../store.ts'
import { saveDraftKeys } from './draft-keys.ts'
import { READER_VERSION } from './reader-version.ts'
import { incomingRow, parseFields, pickContent } from './row.ts'
import { messageWriter } from './writer.ts'

interface RepairDeps {
  db: Db
  clock: Clock
  events: Recorder
  requestBodies?: BodyFetcher['request'] | undefined
}

export interface RepairContext {
  provider: ProviderName
  /** The folder of the message. */
  label: LabelRow
  live: Pick<FolderLiveReads, 'readMessage'>
  /** Begins each transaction: the fence of sync, or `accounts.hold`. */
  begin(tx: Tx): Promise<unknown>
}

/** True for a message that was stored with an error, and that this version of the reader has not tried again. */
export function isRepairable({ error, reader, uid, uidValidity, goneAt }: MessageRow): boolean {
  const isLocated = uid !== null && uidValidity !== null && goneAt === null
  return error !== null && isLocated && (reader ?? 0) < READER_VERSION
}

/**
 * Reads a message again that could not be read, and stores it with `message.updated`. Each version of the reader tries once, also after a
 * crash or when the message makes the server end the connection: otherwise every sync would fail again. Returns the row, changed or not.
 * Throws `ProviderError`.
 */
export async function repairMessage(deps: RepairDeps, context: RepairContext, row: MessageRow): Promise<MessageRow> {
  const { uidValidity, uid } = row
  if (!isRepairable(row) || uidValidity === null || uid === null) return row
  const setReader = (reader: number | null) =>
    deps.db.transaction(async (tx) => {
      await context.begin(tx)
      await tx.updateTable('messages').set({ reader }).where('id', '=', row.id).execute()
    })
  await setReader(READER_VERSION)
  const read = context.live.readMessage({ folderPath: context.label.providerId, uidValidity, uid })
  const message = await read.catch(async (error: unknown) => {
    // The server was not asked for the message.
    const isRefused = error instanceof ProviderError && ['rate_limited', 'auth_expired'].includes(error.kind)
    if (isRefused) await setReader(row.reader)
    throw error
  })
  if (message.error !== null) return { ...row, reader: READER_VERSION }
  return deps.db.transaction(async (tx) => {
    await context.begin(tx)
    return storeRepaired(tx, deps, context, row.id, message)
  })
}

/**
 * Stores the content of a message that was stored without it, with `message.updated`; `arrival`: with the event of a new message, because it
 * had none.
 */
export async function storeRepaired(
  tx: Tx,
  deps: RepairDeps,
  { provider, label }: Pick<RepairContext, 'provider' | 'label'>,
  messageId: string,
  message: RemoteMessage,
  arrival?: { isAutomatic: boolean },
): Promise<MessageRow> {
  const { db, clock, events, requestBodies } = deps
  const store = messageStore(tx)
  const [row] = await store.byIds([messageId])
  if (row === undefined) throw new ProviderError('not_found', 'reading a message: it was deleted meanwhile')
  const { location } = message
  // It was moved meanwhile, and is read again where it is now.
  if (row.folderId !== label.id || row.uidValidity !== location?.uidValidity || row.uid !== location.uid) return row
  const { accountId } = row
  const nowMs = clock.now()
  const incoming = incomingRow(message, { accountId, labelId: label.id, nowMs })
  const labelIds = (await store.labelIds([row.id])).get(row.id) ?? []
  const repaired: MessageRow = {
    ...row,
    ...pickContent(incoming),
    emailIdHash: incoming.emailIdHash,
    threadId: incoming.threadId ?? (namesThread(row) ? row.threadId : null),
    version: row.version + 1,
    updatedAt: nowMs,
  }
  const writer = messageWriter(tx, { dialect: db.dialect, accountId, nowMs })
  const stored = await writer.rewrite(repaired, labelIds)
  await requestBodies?.(tx, accountId, [row.id])
  if (label.role === 'drafts') await saveDraftKeys(tx, accountId, [{ messageId: row.id, message }])
  const arrivalEvents = arrival && announcedAs(stored, label, provider, arrival)
  const changes =
    arrivalEvents ?? changeTypes(label.role, label.role).map((type) => messageEvent(type, stored, label, provider))
  if (labelIds.length === 0) {
    await events.record(tx, changes)
    return stored
  }
  const version = await labelStore(tx).incrementVersion(label.id)
  const counts = { added: 0, updated: 1, deleted: 0 }
  await events.record(tx, [...changes, folderEvent(label, version, provider, counts)])
  return stored
}

/** The messages are read again by their rows in `unreadableItems`, and not by `repairMessage`. */
export async function leaveUnrepaired(tx: Tx, messageIds: readonly string[]): Promise<void> {
  if (messageIds.length === 0) return
  await tx.updateTable('messages').set({ reader: READER_VERSION }).where('id', 'in', messageIds).execute()
}

function announcedAs(
  row: MessageRow,
  label: LabelRow,
  provider: ProviderName,
  { isAutomatic }: { isAutomatic: boolean },
) {
  const type = arrivalType(label.role)
  return type === undefined ? [] : [arrivalEvent(messageEvent(type, row, label, provider), isAutomatic)]
}

/** False when nothing was known that could have decided the thread. */
function namesThread({ fields }: MessageRow): boolean {
  const { messageId, inReplyTo, references } = parseFields(fields)
  return messageId !== null || inReplyTo !== null || references.length > 0
}
