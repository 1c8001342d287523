import { type Selectable, sql } from 'kysely'
import { countMatching, type Handle, type Tables, type Tx } from '../../platform/db/index.ts'
import { buildPage, type Page, pageRequest } from '../../platform/formats/pagination.ts'
import type { BackfillQuery } from './api.ts'

export type BackfillRow = Selectable<Tables['backfills']>
export type BackfillFolderRow = Selectable<Tables['backfillFolders']>

/** A running backfill that waits longer gives its turn to the others. */
const LONG_WAIT_MS = 30_000

export function backfillStore(handle: Handle) {
  const running = (nowMs: number) =>
    handle
      .selectFrom('backfills')
      .where('status', '=', 'running')
      .where('nextBatchAt', '<=', nowMs + LONG_WAIT_MS)
  return {
    find(accountId: string): Promise<BackfillRow | undefined> {
      return handle.selectFrom('backfills').selectAll().where('accountId', '=', accountId).executeTakeFirst()
    },

    /** Newest account first. */
    async list(query: BackfillQuery): Promise<Page<BackfillRow>> {
      const filter = ['backfills', query.status]
      const request = pageRequest(query, filter, ['text'])
      const { status } = query
      const matching = handle
        .selectFrom('backfills')
        .$if(status !== undefined, (rows) => rows.where('status', '=', (status ?? 'running') as BackfillRow['status']))
      const [afterId] = request.after ?? []
      const rows = await matching
        .selectAll()
        .$if(afterId !== undefined, (page) => page.where('accountId', '<', afterId ?? ''))
        .orderBy('accountId', 'desc')
        .limit(request.limit + 1)
        .offset(request.offset)
        .execute()
      const total = await countMatching(handle, matching.select('accountId as id'))
      return buildPage(rows, request, total, filter, (row) => [row.accountId])
    },

    async save(row: BackfillRow): Promise<void> {
      const { accountId, ...values } = row
      await handle
        .insertInto('backfills')
        .values({ accountId, ...values })
        .onConflict((conflict) => conflict.column('accountId').doUpdateSet(values))
        .execute()
    },

    /** Increments the version. False when the row has another version than given: nothing was written. */
    async update({ accountId, version }: BackfillRow, changes: Partial<BackfillRow>): Promise<boolean> {
      const { numUpdatedRows } = await handle
        .updateTable('backfills')
        .set({ ...changes, version: version + 1 })
        .where('accountId', '=', accountId)
        .where('version', '=', version)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** How many running backfills started before this one. */
    async ahead({ accountId, startedAt }: BackfillRow, nowMs: number): Promise<number> {
      const { count } = await running(nowMs)
        .select((eb) => eb.fn.countAll<number | string>().as('count'))
        .where(sql<boolean>`("startedAt", "accountId") < (${startedAt}, ${accountId})`)
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    /** The accounts whose turn it is, those that started first before the others. */
    async first(nowMs: number, limit: number): Promise<string[]> {
      const rows = await running(nowMs)
        .select('accountId')
        .orderBy('startedAt')
        .orderBy('accountId')
        .limit(limit)
        .execute()
      return rows.map((row) => row.accountId)
    },

    /** Backfills that were paused with their account, which was resumed since. */
    resumable(limit: number): Promise<BackfillRow[]> {
      return handle
        .selectFrom('backfills')
        .innerJoin('accounts', 'accounts.id', 'backfills.accountId')
        .selectAll('backfills')
        .where('backfills.status', '=', 'paused')
        .where('pausedBy', '=', 'account')
        .where('accounts.paused', '=', 0)
        .limit(limit)
        .execute()
    },
  }
}

export function backfillFolderStore(handle: Handle) {
  return {
    async all(accountId: string): Promise<Map<string, BackfillFolderRow>> {
      const rows = await handle.selectFrom('backfillFolders').selectAll().where('accountId', '=', accountId).execute()
      return new Map(rows.map((row) => [row.scopeId, row]))
    },

    /** Sets the given columns only. */
    async save(accountId: string, scopeId: string, changes: Partial<BackfillFolderRow>, nowMs: number): Promise<void> {
      const empty = { total: null, isCounted: 0, checkpoint: null, isDone: 0, lowUid: null, error: null }
      await handle
        .insertInto('backfillFolders')
        .values({ ...empty, createdAt: nowMs, ...changes, accountId, scopeId })
        .onConflict((conflict) => conflict.columns(['accountId', 'scopeId']).doUpdateSet({ ...changes, scopeId }))
        .execute()
    },

    async removeAll(accountId: string): Promise<void> {
      await handle.deleteFrom('backfillFolders').where('accountId', '=', accountId).execute()
    },
  }
}

/** Deletes the rows of a deleted account. Returns how many. */
export async function eraseBackfill(tx: Tx, accountId: string): Promise<number> {
  const folders = await tx.deleteFrom('backfillFolders').where('accountId', '=', accountId).executeTakeFirst()
  const backfills = await tx.deleteFrom('backfills').where('accountId', '=', accountId).executeTakeFirst()
  return Number(folders.numDeletedRows + backfills.numDeletedRows)
}
