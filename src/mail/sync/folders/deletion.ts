import type { Handle } from '../../../platform/db/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import { ingest, locatedMessages, type MessageRow, messageStore } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { cursorStore } from '../store.ts'

/** The account of a run that `signal` ends. */
export type AccountRun = OwnedAccount & { signal: AbortSignal }

/** Small, because rows are wide and each one becomes an event. */
const BATCH = 200

/**
 * Deletes rows missing since before `beforeMs` in small transactions and emits `message.deleted`. Throws the signal's reason between
 * two batches, as the functions below do. `findExisting` asks the provider for the rows of each batch, and returns the ids of those
 * that stay.
 */
export async function deleteMissing(
  deps: SyncDeps,
  context: AccountRun,
  beforeMs: number,
  findExisting?: (rows: readonly MessageRow[]) => Promise<ReadonlySet<string>>,
): Promise<void> {
  const readMissing = (handle: Handle) => messageStore(handle).missing(context.accountId, beforeMs, BATCH)
  for (let more = true; more; ) {
    context.signal.throwIfAborted()
    const asked = findExisting && (await readMissing(deps.db.read))
    const existing = asked && (await findExisting(asked))
    const isAsked = new Set(asked?.map(({ id }) => id))
    const mayDelete = ({ id }: MessageRow) => existing === undefined || (isAsked.has(id) && !existing.has(id))
    more = await deps.db.transaction(async (tx) => {
      await deps.fence(tx, context.accountId, context.epoch)
      const rows = (await readMissing(tx)).filter(mayDelete)
      await ingest.deleteMessages(tx, deps, context, rows)
      return rows.length === BATCH
    })
  }
}

/**
 * Removes the messages whose ids `next` returns from a folder, in small transactions, until it returns none: see `ingest.removeFromFolder`.
 */
export async function emptyFolder(
  deps: SyncDeps,
  context: AccountRun,
  label: LabelRow,
  next: (located: ReturnType<typeof locatedMessages>) => Promise<string[]>,
): Promise<void> {
  for (let isEmpty = false; !isEmpty; ) {
    context.signal.throwIfAborted()
    const deleted = await deps.db.transaction(async (tx) => {
      await deps.fence(tx, context.accountId, context.epoch)
      const ids = await next(locatedMessages(tx))
      isEmpty = ids.length === 0
      return ingest.removeFromFolder(tx, deps, context, label, ids)
    })
    if (deleted > 0) context.onStored({ added: 0, updated: 0, deleted })
  }
}

/**
 * Gives messages that are missing since `missing.fromMs`, and before `missing.beforeMs`, the location of a copy that appeared in the hour
 * before. Small transactions.
 */
export async function moveMissing(
  deps: SyncDeps,
  context: AccountRun,
  missing: { fromMs: number; beforeMs: number },
): Promise<void> {
  let last: MessageRow | undefined
  do {
    context.signal.throwIfAborted()
    const after = last
    last = await deps.db.transaction(async (tx) => {
      await deps.fence(tx, context.accountId, context.epoch)
      const rows = await messageStore(tx).missingSince(context.accountId, { ...missing, after }, BATCH)
      await ingest.moveToCopies(tx, deps, context, rows)
      return rows.length === BATCH ? rows.at(-1) : undefined
    })
  } while (last !== undefined)
}

/** Removes the messages of a folder that the server deleted. Deletes its label and cursor once the folder is empty. */
export async function deleteFolder(deps: SyncDeps, context: AccountRun, label: LabelRow): Promise<void> {
  await emptyFolder(deps, context, label, async (located) => [
    ...(await located.idsWithLocation(label.id, BATCH / 2)),
    ...(await located.idsWithoutLocation(label.id, BATCH / 2)),
  ])
  if (!(await locatedMessages(deps.db.read).isFolderEmpty(label.id))) return
  await deps.db.transaction(async (tx) => {
    await deps.fence(tx, context.accountId, context.epoch)
    await cursorStore(tx).remove(label.id)
    await labelStore(tx).remove(label.id)
  })
}
