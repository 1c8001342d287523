import { findApiChanges, StaleRead } from '../../../accounts/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import {
  type FailedMessage,
  type FolderLiveReads,
  type FolderMailProvider,
  type MessageLocation,
  ProviderError,
  type RemoteMessage,
} from '../../../providers/contract/index.ts'
import { type FolderCounts, type LabelRow, labelStore } from '../../labels/index.ts'
import {
  ingest,
  leaveUnrepaired,
  locatedMessages,
  type MessageRow,
  messageStore,
  storeRepaired,
  UndecidedMatches,
} from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { itemRetryPlan } from '../timing.ts'
import { isOfAccount } from '../unreadable/folders.ts'
import {
  countFailures,
  type Failure,
  MAX_FAILURES,
  planAttempts,
  type UnreadableRow,
  unreadableStore,
} from '../unreadable/store.ts'
import { messageWithoutContent, mustWait, readPartialMessage } from '../unreadable/without-content.ts'
import { itemLocation, pickState } from './failing-messages.ts'
import { type AskPresence, checkPresence } from './presence.ts'

/** Messages that one run reads again. Each may end the connection for requests. */
const MAX_AGAIN = 20
/** While the server returns no message at all, the fault is probably its own. After this time, failures count all the same. */
const OUTAGE_MS = 10 * 60_000
/** Several, because some of the newest messages may not be complete. */
const MAX_CONTROLS = 10

export interface AgainContext extends OwnedAccount {
  /** The synced folders. */
  labels: readonly LabelRow[]
  mail: FolderMailProvider
  presentUids: AskPresence
  signal: AbortSignal
}

interface Reading extends AgainContext {
  live: FolderLiveReads
  label: LabelRow
}

/**
 * Reads messages again that could not be read, when their time has come, over the connection for requests, one by one:
 *
 *   read ──► stored, with one event
 *     ├──► gone: forgotten
 *     └──► failed again: after three failures stored without content; the next attempt follows after a longer pause
 *
 * Throws `OwnershipLost`.
 */
export async function readMessagesAgain(deps: SyncDeps, context: AgainContext): Promise<void> {
  const { accountId, epoch, mail, signal } = context
  const due = await unreadableStore(deps.db.read, accountId).due('message', deps.clock.now(), MAX_AGAIN)
  if (due.length === 0) return
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, epoch)
    const ids = due.map(({ itemId }) => itemId)
    await planAttempts(tx, accountId, 'message', ids, itemRetryPlan(deps))
  })
  const labels = new Map(context.labels.map((label) => [label.id, label]))
  const live = mail.liveReads(await deps.accounts.access(accountId))
  let isReading: boolean | undefined
  for (const row of due) {
    signal.throwIfAborted()
    const label = labels.get(row.labelId ?? '')
    if (label === undefined) {
      await forget(deps, context, row)
      continue
    }
    const reading: Reading = { ...context, live, label }
    const read = await orError(live.readMessage(toLocation(label, row)))
    // The server was not asked for the message, and would not be for the next ones.
    if (read instanceof ProviderError && isOfAccount(read)) return
    if (read instanceof ProviderError && read.kind === 'not_found') await forget(deps, context, row)
    else if (!(read instanceof ProviderError) && read.unreadable === undefined) {
      isReading = true
      await storeRead(deps, reading, row, read)
    } else {
      isReading ??= await isReturning(deps, context, live, due.length)
      const isOutage = !isReading && deps.clock.now() - row.failedAt < OUTAGE_MS
      // The next attempt of the others is planned, too. Each of them might take as long.
      if (isOutage) return
      const reason = read instanceof ProviderError ? read.message : (read.error ?? '')
      const known = JSON.stringify(await describe(reading, row, read))
      await countAgain(deps, reading, { itemId: row.itemId, reason, known })
      if (read instanceof ProviderError && read.timedOut) return
    }
  }
}

function toLocation({ providerId: folderPath }: LabelRow, row: UnreadableRow): MessageLocation {
  return { folderPath, ...itemLocation(row) }
}

async function orError<T>(reading: Promise<T>): Promise<T | ProviderError> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ProviderError) return error
    throw error
  }
}

/** Describes a message that failed again. A server that ends the connection with it is asked for its flags alone. */
async function describe(
  { live, label }: Reading,
  row: UnreadableRow,
  read: RemoteMessage | ProviderError,
): Promise<Partial<FailedMessage>> {
  if (!(read instanceof ProviderError)) return pickState(read)
  const isStoredNext = row.isStored === 0 && row.failures + 1 >= MAX_FAILURES
  const described = isStoredNext ? await orError(live.describeMessage(toLocation(label, row))) : read
  return described instanceof ProviderError ? {} : pickState(described)
}

/** Whether the server returns the newest message of the account that is complete. Without one, a single message is at fault. */
async function isReturning(
  { db }: SyncDeps,
  { accountId, labels }: AgainContext,
  live: FolderLiveReads,
  failed: number,
): Promise<boolean> {
  const store = messageStore(db.read)
  const newest = await store.newestFirst({ accountId }, MAX_CONTROLS)
  const rows = await store.byIds(newest.map(({ id }) => id))
  for (const { error, folderId, uid, uidValidity } of rows) {
    const folderPath = labels.find(({ id }) => id === folderId)?.providerId
    if (error !== null || folderPath === undefined || uid === null || uidValidity === null) continue
    return live.readMessage({ folderPath, uid, uidValidity }).then(
      ({ unreadable }) => unreadable === undefined,
      (failure: unknown) => {
        if (failure instanceof ProviderError) return failure.kind === 'not_found'
        throw failure
      },
    )
  }
  return failed === 1
}

async function forget(deps: SyncDeps, { accountId, epoch }: OwnedAccount, { itemId }: UnreadableRow): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, epoch)
    await unreadableStore(tx, accountId).remove('message', [itemId])
  })
}

async function storeRead(deps: SyncDeps, reading: Reading, row: UnreadableRow, message: RemoteMessage): Promise<void> {
  await change(deps, reading, row, async (tx, now, stored, addMessage) => {
    await unreadableStore(tx, reading.accountId).remove('message', [row.itemId])
    const isNew = now.newSince !== null && message.receivedAt > now.newSince
    if (stored === undefined) return addMessage({ ...message, isNew })
    if (stored.error === null) return
    const arrival = isNew ? { isAutomatic: message.isAutomatic === true } : undefined
    const repaired = await storeRepaired(tx, deps, reading, stored.id, message, arrival)
    if (message.mayBeReport) await deps.requestReports(tx, reading.accountId, [repaired.id])
  })
}

async function countAgain(deps: SyncDeps, reading: Reading, failure: Failure): Promise<void> {
  const { accountId, label, provider } = reading
  await change(deps, reading, failure, async (tx, _now, stored, addMessage) => {
    const store = unreadableStore(tx, accountId)
    const [counted] = await countFailures(tx, accountId, 'message', [failure], itemRetryPlan(deps))
    if (counted === undefined || counted.failures < MAX_FAILURES || counted.isStored === 1) return
    if (stored !== undefined) {
      await store.update('message', failure.itemId, { isStored: 1, newSince: null })
      return
    }
    // Without its flags, it would be shown as unread.
    if (readPartialMessage(counted).unread === undefined || mustWait(counted, [label.role])) return
    const message = messageWithoutContent(counted)
    await store.update('message', failure.itemId, { isStored: 1, newSince: message.isNew ? null : counted.newSince })
    tx.afterCommit(() =>
      deps.log.warn('A message is stored without its content, because the server does not return it.', {
        accountId,
        provider,
        operation: 'sync.message',
        metadata: { labelId: label.id, failures: counted.failures, reason: counted.reason },
      }),
    )
    await addMessage({ ...message, location: itemLocation(failure), providerMessageId: null, threadId: null })
    const { uidValidity, uid } = itemLocation(failure)
    const added = await locatedMessages(tx).byLocation(label.id, uidValidity, [uid])
    await leaveUnrepaired(
      tx,
      added.map(({ id }) => id),
    )
  })
}

type Work = (
  tx: Tx,
  now: UnreadableRow,
  /** The message, if it is stored. */
  stored: MessageRow | undefined,
  addMessage: (message: RemoteMessage) => Promise<void>,
) => Promise<void>

/** Runs `work` in a transaction, and again once the server has said which messages that may be the same are still there. */
async function change(deps: SyncDeps, reading: Reading, row: Pick<UnreadableRow, 'itemId'>, work: Work): Promise<void> {
  const { accountId, epoch, label } = reading
  const { uidValidity, uid } = itemLocation(row)
  const presence = new Map<string, 'present' | 'absent'>()
  const apiChanges = await findApiChanges(deps.db.read, accountId)
  const store = async (tx: Tx) => {
    await deps.fence(tx, accountId, epoch)
    const now = await unreadableStore(tx, accountId).find('message', row.itemId)
    if (now === undefined) return undefined
    const [stored] = await locatedMessages(tx).byLocation(label.id, uidValidity, [uid])
    let counts: FolderCounts | undefined
    await work(tx, now, stored, async (message) => {
      counts = await ingest.folder(tx, deps, {
        accountId,
        provider: reading.provider,
        label,
        uidValidity,
        added: [{ ...message, location: { uidValidity, uid } }],
        apiChanges,
        presence,
        bodies: new Map(),
        isNew: ({ isNew }) => isNew,
      })
    })
    return counts
  }
  for (;;) {
    try {
      const counts = await deps.db.transaction(store)
      if (counts !== undefined) reading.onStored(counts)
      return
    } catch (error) {
      // A change through the API since the message was read: it is read again.
      if (error instanceof StaleRead) return
      if (!(error instanceof UndecidedMatches)) throw error
      const failure = await checkPresence(labelStore(deps.db.read), reading.presentUids, error.rows, presence).catch(
        (reason: unknown) => reason,
      )
      // Another folder cannot be read. The message is read again at its next attempt.
      if (failure instanceof ProviderError && !isOfAccount(failure)) return
      if (failure !== undefined) throw failure
    }
  }
}
