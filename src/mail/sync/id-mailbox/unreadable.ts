import { type ApiChanges, findApiChanges, StaleRead } from '../../../accounts/index.ts'
import type { Tx } from '../../../platform/db/index.ts'
import type {
  FailedMessage,
  FoundMessage,
  MailboxSession,
  MailboxStep,
  RemoteMessage,
} from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { type EventBodies, ingest, isFound, messageStore } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { boundedSince, chooseNewSince, isNewArrival } from '../new-since.ts'
import type { CursorRow } from '../store.ts'
import { itemRetryPlan } from '../timing.ts'
import { buildControl } from '../unreadable/control.ts'
import {
  countFailures,
  MAX_FAILURES,
  planAttempts,
  toFailure,
  type UnreadableRow,
  unreadableStore,
} from '../unreadable/store.ts'
import { messageWithoutContent, mustWait, readPartialMessage } from '../unreadable/without-content.ts'

/** Messages that one run reads again. */
const MAX_AGAIN = 50
/** While the provider returns no message at all, the fault is probably its own. After this time, failures count all the same. */
const OUTAGE_MS = 10 * 60_000

/** Stores that messages of a step could not be read, in the transaction that moves the cursor past them. */
export async function recordFailed(
  tx: Tx,
  deps: SyncDeps,
  context: OwnedAccount & { scope: LabelRow | undefined },
  { step, cursorRow }: { step: MailboxStep; cursorRow: CursorRow | undefined },
): Promise<void> {
  const { failed = [], found, refetched } = step
  if (failed.length === 0) return
  const { accountId, provider, scope } = context
  const isByTime = refetched || (cursorRow?.announceAfter ?? null) !== null
  const since = (message: FailedMessage) =>
    isByTime || message.newSince === undefined
      ? chooseNewSince(message, refetched, cursorRow, context.syncedAt())
      : message.newSince
  const stored = new Set(found.map(({ message }) => message.providerMessageId))
  const failures = failed.map((message) => {
    const isStored = stored.has(message.providerMessageId)
    return {
      ...toFailure(message, scope?.id ?? null),
      isStored: Number(isStored),
      newSince: isStored ? null : boundedSince(since(message)),
    }
  })
  await countFailures(tx, accountId, 'message', failures, itemRetryPlan(deps))
  tx.afterCommit(() =>
    deps.log.warn('Some messages cannot be read. They are read again later; the others are synced.', {
      accountId,
      provider,
      operation: 'sync.message',
      metadata: { messages: failed.length, reason: failed[0]?.reason },
    }),
  )
}

export interface AgainContext extends OwnedAccount {
  session: MailboxSession
  isOneScope: boolean
  labels(paths: readonly string[]): Promise<ReadonlyMap<string, LabelRow>>
  signal: AbortSignal
}

/**
 * Reads messages again that could not be read, when their time has come:
 *
 *   read ──► stored, with one event
 *     ├──► gone: forgotten
 *     └──► failed again: after three failures stored without content; the next attempt follows after a longer pause
 *
 * Throws what concerns the entire account, and `OwnershipLost`.
 */
export async function readAgain(deps: SyncDeps, context: AgainContext): Promise<void> {
  const { accountId, session, signal } = context
  const due = await unreadableStore(deps.db.read, accountId).due('message', deps.clock.now(), MAX_AGAIN)
  if (due.length === 0) return
  const ids = due.map(({ itemId }) => itemId)
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, context.epoch)
    await planAttempts(tx, accountId, 'message', ids, itemRetryPlan(deps))
  })
  const apiChanges = await findApiChanges(deps.db.read, accountId)
  const { found, removed, failed, isReading } = await session.readAgain({
    ids,
    control: buildControl(deps.db, accountId),
    signal,
  })
  const labels = await context.labels([...found, ...failed].flatMap(({ folders = [] }) => folders))
  const reading: Reading = { ...context, labels, apiChanges }
  const again = new Map(failed.map((message) => [message.providerMessageId, message]))
  for (const message of found) {
    signal.throwIfAborted()
    await unlessStale(storeRead(deps, reading, message, again.get(message.message.providerMessageId)))
  }
  await unlessStale(forget(deps, reading, removed))
  const read = new Set(found.map(({ message }) => message.providerMessageId))
  for (const row of due) {
    const failure = again.get(row.itemId)
    const isOutage = !isReading && deps.clock.now() - row.failedAt < OUTAGE_MS
    if (failure === undefined || read.has(row.itemId) || isOutage) continue
    signal.throwIfAborted()
    await unlessStale(countAgain(deps, reading, failure))
  }
}

interface Reading extends Omit<AgainContext, 'labels'> {
  labels: ReadonlyMap<string, LabelRow>
  apiChanges: ApiChanges
}

async function forget(deps: SyncDeps, context: Reading, removed: readonly string[]): Promise<void> {
  if (removed.length === 0) return
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, context.accountId, context.epoch)
    await unreadableStore(tx, context.accountId).remove('message', removed)
    for (const id of removed) await leaveFolder(tx, deps, context, id)
  })
}

/** Where each folder is a scope, nothing else reports that the message has left it. Sync decides then whether it was deleted. */
async function leaveFolder(tx: Tx, deps: SyncDeps, context: Reading, id: string): Promise<void> {
  if (context.isOneScope) return
  const [row] = await messageStore(tx).byProviderIds(context.accountId, [id])
  const scope = [...context.labels.values()].find((label) => label.id === row?.folderId)
  if (scope === undefined) return
  await ingest.mailbox(tx, deps, { ...ingestRead(context, scope), removed: [id] })
}

/** Stores a message that was read. `failure`: a part of it still fails. */
async function storeRead(
  deps: SyncDeps,
  reading: Reading,
  found: FoundMessage,
  failure: FailedMessage | undefined,
): Promise<void> {
  const { accountId, epoch } = reading
  const id = found.message.providerMessageId
  const counts = await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, epoch)
    const store = unreadableStore(tx, accountId)
    const row = await store.find('message', id)
    if (row === undefined) return undefined
    const isNew = row.newSince !== null && found.message.receivedAt > row.newSince
    if (failure === undefined) await store.remove('message', [id])
    else {
      await countFailures(tx, accountId, 'message', [toFailure(failure, row.labelId)], itemRetryPlan(deps))
      await store.update('message', id, { isStored: 1, newSince: null })
    }
    const message = { ...found.message, isNew }
    const repair = { announces: row.isStored === 1 && isNew, isAutomatic: message.isAutomatic === true }
    return storeFound(tx, deps, reading, { ...found, message }, repair)
  })
  if (counts !== undefined) reading.onStored(counts)
}

async function countAgain(deps: SyncDeps, reading: Reading, failed: FailedMessage): Promise<void> {
  const { accountId, epoch, provider } = reading
  const counts = await deps.db.transaction(async (tx) => {
    await deps.fence(tx, accountId, epoch)
    const store = unreadableStore(tx, accountId)
    if ((await store.find('message', failed.providerMessageId)) === undefined) return undefined
    const [row] = await countFailures(tx, accountId, 'message', [toFailure(failed, null)], itemRetryPlan(deps))
    if (row === undefined || row.failures < MAX_FAILURES || row.isStored === 1) return undefined
    const rows = await messageStore(tx).byProviderIds(accountId, [row.itemId])
    if (rows.some((row) => !isFound(row))) {
      // The message is stored already; only its change could not be read.
      await store.update('message', row.itemId, { isStored: 1, newSince: null })
      return undefined
    }
    const without = withoutContent(row, reading)
    if (without === undefined) return undefined
    const { isNew } = without.message
    await store.update('message', row.itemId, { isStored: 1, newSince: isNew ? null : row.newSince })
    tx.afterCommit(() =>
      deps.log.warn('A message is stored without its content, because the provider does not return it.', {
        accountId,
        provider,
        operation: 'sync.message',
        metadata: { providerMessageId: row.itemId, failures: row.failures, reason: row.reason },
      }),
    )
    return storeFound(tx, deps, reading, without)
  })
  if (counts !== undefined) reading.onStored(counts)
}

/** Builds the message from its known parts. Undefined while it must not be stored without more. */
function withoutContent(row: UnreadableRow, { labels, isOneScope }: Reading): FoundMessage | undefined {
  const { folders, threadId } = readPartialMessage(row)
  const carried = (folders ?? []).flatMap((path) => labels.get(path) ?? [])
  if (!isOneScope && carried.length === 0) return undefined
  const roles = carried.map(({ role }) => role)
  if (mustWait(row, roles)) return undefined
  const message = messageWithoutContent(row)
  return {
    folders: folders ?? [],
    message: {
      ...message,
      providerMessageId: row.itemId,
      threadId: threadId ?? null,
      // Without its labels, the message could be spam.
      isNew: message.isNew && folders !== undefined,
    },
  }
}

async function storeFound(
  tx: Tx,
  deps: SyncDeps,
  reading: Reading,
  found: FoundMessage,
  repair?: { announces: boolean; isAutomatic: boolean },
) {
  const { isOneScope, labels } = reading
  const scope = isOneScope ? undefined : labels.get(found.folders[0] ?? '')
  if (!isOneScope && scope === undefined) {
    // It is in a folder that is not synced.
    await leaveFolder(tx, deps, reading, found.message.providerMessageId)
    return undefined
  }
  return ingest.mailbox(tx, deps, { ...ingestRead(reading, scope), found: [found], repair })
}

function ingestRead({ accountId, provider, labels, apiChanges, syncedAt }: Reading, scope: LabelRow | undefined) {
  return {
    accountId,
    provider,
    scope,
    labels,
    apiChanges,
    bodies: new Map<string, EventBodies>(),
    isNew: (message: RemoteMessage, row: { receivedAt: number }) =>
      isNewArrival(message, row, false, undefined, syncedAt()),
  }
}

/** A change through the API since the message was read: it is read again. */
async function unlessStale(storing: Promise<void>): Promise<void> {
  try {
    await storing
  } catch (error) {
    if (!(error instanceof StaleRead)) throw error
  }
}
