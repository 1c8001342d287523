import type { Selectable } from 'kysely'
import { backoffMs } from '../../../platform/concurrency/retry.ts'
import type { Handle, Tables, Tx } from '../../../platform/db/index.ts'
import { cleanText, truncateText } from '../../../platform/formats/text.ts'
import { type FailedMessage, ProviderError } from '../../../providers/contract/index.ts'
import type { RetryPlan } from '../timing.ts'

export type UnreadableRow = Selectable<Tables['unreadableItems']>
type UnreadableKind = UnreadableRow['kind']

/** An item that failed once more. */
export type Failure = Pick<UnreadableRow, 'itemId' | 'reason'> &
  Partial<Pick<UnreadableRow, 'labelId' | 'known' | 'newSince' | 'isStored'>>

/** A message of a provider with ids. */
export function toFailure(
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

    inFolder: (labelId: string): Promise<UnreadableRow[]> => rows('message').where('labelId', '=', labelId).execute(),

    /** When the next item is due; null when there is none. */
    async nextAttemptAt(kind: UnreadableKind): Promise<number | null> {
      const row = await rows(kind).orderBy('nextAttemptAt').limit(1).executeTakeFirst()
      return row?.nextAttemptAt ?? null
    },

    async byIds(kind: UnreadableKind, itemIds: readonly string[]): Promise<Map<string, UnreadableRow>> {
      const found = new Map<string, UnreadableRow>()
      for (let start = 0; start < itemIds.length; start += IDS_PER_QUERY) {
        const some = rows(kind).where('itemId', 'in', itemIds.slice(start, start + IDS_PER_QUERY))
        for (const row of await some.execute()) found.set(row.itemId, row)
      }
      return found
    },

    /** Inserts or replaces rows of different items. */
    async save(items: readonly UnreadableRow[]): Promise<void> {
      for (let start = 0; start < items.length; start += IDS_PER_QUERY) {
        await handle
          .insertInto('unreadableItems')
          .values(items.slice(start, start + IDS_PER_QUERY))
          .onConflict((conflict) =>
            conflict.columns(['accountId', 'kind', 'itemId']).doUpdateSet((eb) => ({
              labelId: eb.ref('excluded.labelId'),
              failures: eb.ref('excluded.failures'),
              reason: eb.ref('excluded.reason'),
              known: eb.ref('excluded.known'),
              newSince: eb.ref('excluded.newSince'),
              isStored: eb.ref('excluded.isStored'),
              failedAt: eb.ref('excluded.failedAt'),
              nextAttemptAt: eb.ref('excluded.nextAttemptAt'),
            })),
          )
          .execute()
      }
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

    async removeInFolder(labelId: string): Promise<void> {
      await handle
        .deleteFrom('unreadableItems')
        .where('accountId', '=', accountId)
        .where('kind', '=', 'message')
        .where('labelId', '=', labelId)
        .execute()
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
  { nowMs, backoff }: RetryPlan,
): Promise<UnreadableRow[]> {
  if (failed.length === 0) return []
  const store = unreadableStore(tx, accountId)
  const before = await store.byIds(
    kind,
    failed.map(({ itemId }) => itemId),
  )
  const rows = new Map<string, UnreadableRow>()
  for (const { itemId, reason, labelId = null, known = '{}', newSince = null, isStored = 0 } of failed) {
    const earlier = before.get(itemId)
    const failures = (earlier?.failures ?? 0) + 1
    rows.set(itemId, {
      accountId,
      kind,
      itemId,
      labelId: earlier?.labelId ?? labelId,
      failures,
      reason: truncateText(cleanText(reason), MAX_REASON),
      known: known === '{}' ? (earlier?.known ?? known) : known,
      newSince: earlier === undefined ? newSince : earlier.newSince,
      isStored: earlier?.isStored ?? isStored,
      failedAt: earlier?.failedAt ?? nowMs,
      nextAttemptAt: nowMs + backoffMs(failures, backoff),
    })
  }
  await store.save([...rows.values()])
  await ensureFew(tx, accountId)
  return [...rows.values()]
}

/** Plans the next attempt of each item before the one that begins now: an item that ends the process is not read again at once. */
export async function planAttempts(
  tx: Tx,
  accountId: string,
  kind: UnreadableKind,
  itemIds: readonly string[],
  { nowMs, backoff }: RetryPlan,
): Promise<void> {
  const store = unreadableStore(tx, accountId)
  const rows = [...(await store.byIds(kind, itemIds)).values()]
  await store.save(rows.map((row) => ({ ...row, nextAttemptAt: nowMs + backoffMs(row.failures + 1, backoff) })))
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
