import type { Selectable } from 'kysely'
import type { Handle, Tables, Tx } from '../../../infra/db/index.ts'
import { type Backoff, backoffMs } from '../../../lib/retry.ts'
import { cleanText, truncateText } from '../../../lib/text.ts'
import { type FailedMessage, ProviderError } from '../../../providers/contract/index.ts'

export type UnreadableRow = Selectable<Tables['unreadableItems']>
export type UnreadableKind = UnreadableRow['kind']

/** An item that failed once more. */
export type Failure = Pick<UnreadableRow, 'itemId' | 'reason'> &
  Partial<Pick<UnreadableRow, 'labelId' | 'known' | 'newSince' | 'isStored'>>

/** A message of a provider with ids. */
export function failureOf(
  { providerMessageId, reason, isNew: _, newSince: __, ...known }: FailedMessage,
  labelId: string | null,
): Failure {
  return { itemId: providerMessageId, reason, labelId, known: JSON.stringify(known) }
}

/** An item that fails so often is stored without content, or waits longer and longer. */
export const MAX_FAILURES = 3
/** With more of them, the fault is no longer that of single items. */
const MAX_ITEMS = 1000
const MAX_REASON = 300
const IDS_PER_QUERY = 200

/** Items that could not be read, of one account. */
export function unreadableStore(handle: Handle, accountId: string) {
  const rows = (kind: UnreadableKind) =>
    handle.selectFrom('unreadableItems').selectAll().where('accountId', '=', accountId).where('kind', '=', kind)

  return {
    all: (kind: UnreadableKind): Promise<UnreadableRow[]> => rows(kind).orderBy('nextAttemptAt').execute(),

    find: (kind: UnreadableKind, itemId: string): Promise<UnreadableRow | undefined> =>
      rows(kind).where('itemId', '=', itemId).executeTakeFirst(),

    due: (kind: UnreadableKind, nowMs: number, limit: number): Promise<UnreadableRow[]> =>
      rows(kind).where('nextAttemptAt', '<=', nowMs).orderBy('nextAttemptAt').limit(limit).execute(),

    /** When the next item is due; null when there is none. */
    async nextAttemptAt(kind: UnreadableKind): Promise<number | null> {
      const row = await rows(kind).orderBy('nextAttemptAt').limit(1).executeTakeFirst()
      return row?.nextAttemptAt ?? null
    },

    async remove(kind: UnreadableKind, itemIds: readonly string[]): Promise<void> {
      for (let start = 0; start < itemIds.length; start += IDS_PER_QUERY) {
        await handle
          .deleteFrom('unreadableItems')
          .where('accountId', '=', accountId)
          .where('kind', '=', kind)
          .where('itemId', 'in', itemIds.slice(start, start + IDS_PER_QUERY))
          .execute()
      }
    },

    async update(kind: UnreadableKind, itemId: string, changes: Partial<UnreadableRow>): Promise<void> {
      await handle
        .updateTable('unreadableItems')
        .set(changes)
        .where('accountId', '=', accountId)
        .where('kind', '=', kind)
        .where('itemId', '=', itemId)
        .execute()
    },

    /** The items that are shown, and how many there are. */
    async shown(limit: number): Promise<{ count: number; items: UnreadableRow[] }> {
      const own = handle.selectFrom('unreadableItems').where('accountId', '=', accountId)
      const { count } = await own.select((eb) => eb.fn.countAll().as('count')).executeTakeFirstOrThrow()
      const items = await own.selectAll().orderBy('failedAt').orderBy('itemId').limit(limit).execute()
      return { count: Number(count), items }
    },
  }
}

/**
 * Counts one more failure of each item, and plans its next attempt after a pause that grows with them. An item that has failed before
 * keeps what was decided about it. Throws `unavailable` when too many items of the account fail.
 */
export async function countFailures(
  tx: Tx,
  accountId: string,
  kind: UnreadableKind,
  failed: readonly Failure[],
  { nowMs, backoff }: { nowMs: number; backoff: Backoff },
): Promise<UnreadableRow[]> {
  const counted: UnreadableRow[] = []
  const store = unreadableStore(tx, accountId)
  for (const { itemId, reason, labelId = null, known = '{}', newSince = null, isStored = 0 } of failed) {
    const before = await store.find(kind, itemId)
    const failures = (before?.failures ?? 0) + 1
    const row: UnreadableRow = {
      accountId,
      kind,
      itemId,
      labelId: before?.labelId ?? labelId,
      failures,
      reason: truncateText(cleanText(reason), MAX_REASON),
      known: known === '{}' ? (before?.known ?? known) : known,
      newSince: before === undefined ? newSince : before.newSince,
      isStored: before?.isStored ?? isStored,
      failedAt: before?.failedAt ?? nowMs,
      nextAttemptAt: nowMs + backoffMs(failures, backoff),
    }
    await tx
      .insertInto('unreadableItems')
      .values(row)
      .onConflict((conflict) => conflict.columns(['accountId', 'kind', 'itemId']).doUpdateSet(row))
      .execute()
    counted.push(row)
  }
  if (failed.length > 0) await ensureFew(tx, accountId)
  return counted
}

async function ensureFew(tx: Tx, accountId: string): Promise<void> {
  const { count } = await unreadableStore(tx, accountId).shown(0)
  if (count > MAX_ITEMS) throw new ProviderError('unavailable', 'too many messages cannot be read')
}

/** Deletes up to `limit` rows of a deleted account and returns how many. */
export async function eraseUnreadable(tx: Tx, accountId: string, limit: number): Promise<number> {
  const some = tx.selectFrom('unreadableItems').select('itemId').where('accountId', '=', accountId).limit(limit)
  const { numDeletedRows } = await tx
    .deleteFrom('unreadableItems')
    .where('accountId', '=', accountId)
    .where('itemId', 'in', some)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
