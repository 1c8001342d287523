import { randomUUID } from 'node:crypto'
import { sleep } from '../../platform/concurrency/abort.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Clock } from '../../platform/time/clock.ts'

/** Returns the id of the draft that an earlier request with this key began to create. */
export async function findCreation(tx: Tx, requestKey: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('draftCreations')
    .select('messageId')
    .where('requestKey', '=', requestKey)
    .executeTakeFirst()
  return row?.messageId
}

export async function addCreation(
  tx: Tx,
  creation: { messageId: string; accountId: string; requestKey: string | null; createdAt: number },
): Promise<void> {
  await tx.insertInto('draftCreations').values(creation).execute()
}

/** Deletes up to `limit` creations begun before this time and returns how many. */
export async function purgeDraftRequests(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = tx.selectFrom('draftCreations').select('messageId').where('createdAt', '<', beforeMs).limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('draftCreations').where('messageId', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

/** Deletes up to `limit` locks that ended before this time, of requests that crashed, and returns how many. */
export async function purgeDraftLocks(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const ended = tx.selectFrom('draftLocks').select('messageId').where('heldUntil', '<', beforeMs).limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('draftLocks').where('messageId', 'in', ended).executeTakeFirst()
  return Number(numDeletedRows)
}

/** Deletes up to `limit` rows of a deleted account and returns how many. */
export async function eraseDraftRequests(tx: Tx, accountId: string, limit: number): Promise<number> {
  let deleted = 0
  for (const table of ['draftCreations', 'draftLocks'] as const) {
    const some = tx.selectFrom(table).select('messageId').where('accountId', '=', accountId).limit(limit)
    const { numDeletedRows } = await tx.deleteFrom(table).where('messageId', 'in', some).executeTakeFirst()
    deleted += Number(numDeletedRows)
  }
  return deleted
}

/** Longer than the requests of one change may take. */
const HELD_MS = 90_000
const WAIT_MS = 10_000
const RETRY_MS = 50

/**
 * Runs `work` while no other request changes or sends the draft, in whichever process. Throws `not_ready` when the other request does
 * not end within ten seconds.
 */
export async function withDraftLock<T>(
  { db, clock }: { db: Db; clock: Clock },
  { messageId, accountId }: { messageId: string; accountId: string },
  work: () => Promise<T>,
): Promise<T> {
  const holder = randomUUID()
  const giveUpAt = clock.monotonic() + WAIT_MS
  while (!(await db.transaction(take))) {
    if (clock.monotonic() > giveUpAt) {
      const message = 'Another request is changing this draft. Try again shortly.'
      throw new AppError('not_ready', { message, headers: { 'retry-after': '5' } })
    }
    await sleep(RETRY_MS)
  }
  try {
    return await work()
  } finally {
    await db.transaction((tx) =>
      tx.deleteFrom('draftLocks').where('messageId', '=', messageId).where('holder', '=', holder).execute(),
    )
  }

  async function take(tx: Tx): Promise<boolean> {
    const nowMs = clock.now()
    const held = { holder, heldUntil: nowMs + HELD_MS }
    const row = await tx
      .insertInto('draftLocks')
      .values({ messageId, accountId, ...held })
      .onConflict((conflict) =>
        conflict.column('messageId').doUpdateSet(held).where('draftLocks.heldUntil', '<', nowMs),
      )
      .returning('holder')
      .executeTakeFirst()
    return row !== undefined
  }
}
