import { sql } from 'kysely'
import type { Dialect, Handle, Tx } from '../../platform/db/index.ts'
import type { SyncTotals } from '../index.ts'
import type { BeatState, OwnedAccount, RegisteredInstance } from './ownership-store.ts'

/** Few enough that the listeners of a change, which get such a page at most, hold the event loop for some milliseconds. */
const ACCOUNTS_PER_QUERY = 500

/**
 * Rows of `instances`, and the owner and epoch of `accounts`. Uses only the database's time, because the clocks of machines
 * differ. An account whose owner has no row here is free. Write only inside a transaction.
 */
export function instanceStore(handle: Handle, dialect: Dialect) {
  const living = () => handle.selectFrom('instances').select('id')
  const owned = (me: string) =>
    handle
      .selectFrom('accounts')
      .select(['id', 'epoch', 'paused', 'watch', 'accessVersion', 'mailHost'])
      .where('ownerInstance', '=', me)
  return {
    /** Whether an account has no owner. Does not include accounts of removed instances. */
    async hasUnowned(): Promise<boolean> {
      const accounts = handle.selectFrom('accounts').select('id').where('ownerInstance', 'is', null)
      return (await accounts.limit(1).execute()).length > 0
    },

    /** Registers the instance, or resets its heartbeat and start. */
    async register(id: string, lockKey: string | null): Promise<void> {
      const life = { heartbeatAt: dialect.nowMs, startedAt: dialect.nowMs, lockKey }
      await handle
        .insertInto('instances')
        .values({ id, ...life })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(life))
        .execute()
    },

    /** False when another instance declared this one dead. */
    async beat(id: string, state: BeatState): Promise<boolean> {
      const { numUpdatedRows } = await handle
        .updateTable('instances')
        .set({ heartbeatAt: dialect.nowMs, ...state })
        .where('id', '=', id)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    /** Removes instances without a heartbeat for `silentMs`, or all others. Returns their ids. */
    async removeDead(me: string, silentMs: number | 'all'): Promise<string[]> {
      const others = handle.deleteFrom('instances').where('id', '!=', me)
      const dead =
        silentMs === 'all'
          ? others
          : others.where('heartbeatAt', '<', sql<number>`${dialect.nowMs} - ${sql.lit(silentMs)}`)
      const rows = await dead.returning('id').execute()
      return rows.map((row) => row.id)
    },

    /** Removes those of these instances that still claim their lock. Returns their ids. */
    async removeWithoutLock(ids: readonly string[]): Promise<string[]> {
      const dead = handle.deleteFrom('instances').where('id', 'in', ids).where('lockKey', 'is not', null)
      return idsOf(await dead.returning('id').execute())
    },

    async unregister(id: string): Promise<void> {
      await handle.deleteFrom('instances').where('id', '=', id).execute()
    },

    /** The number of accounts per live instance, zero included, and the number of free accounts. */
    async shares(): Promise<{ owned: Map<string, number>; free: number }> {
      const owned = new Map((await living().execute()).map((row) => [row.id, 0]))
      const counts = await handle
        .selectFrom('accounts')
        .select(['ownerInstance', sql<number>`count(*)`.as('count')])
        .groupBy('ownerInstance')
        .execute()
      let free = 0
      for (const { ownerInstance, count } of counts) {
        if (ownerInstance !== null && owned.has(ownerInstance)) owned.set(ownerInstance, count)
        else free += count
      }
      return { owned, free }
    },

    /**
     * Takes up to `limit` free accounts, each under its next epoch, and returns how many. Skips rows that a
     * transaction has locked; the next round, which follows at once, takes them.
     */
    async take(me: string, limit: number): Promise<number> {
      const free = await unowned(handle).orderBy('id').limit(limit).modifyEnd(dialect.skipLocked).execute()
      if (free.length > 0) {
        await handle
          .updateTable('accounts')
          .set((eb) => ({ ownerInstance: me, epoch: eb('epoch', '+', 1) }))
          .where('id', 'in', idsOf(free))
          .execute()
      }
      return free.length
    },

    /**
     * Takes the account, under its next epoch, if it is free. Returns it if this instance owns it now; undefined if another one does,
     * or if this one is not registered.
     */
    async claim(me: string, accountId: string): Promise<OwnedAccount | undefined> {
      await handle
        .updateTable('accounts')
        .set((eb) => ({ ownerInstance: me, epoch: eb('epoch', '+', 1) }))
        .where('id', '=', accountId)
        .where((eb) => eb.or([eb('ownerInstance', 'is', null), eb('ownerInstance', 'not in', living())]))
        .where((eb) => eb.exists(living().where('id', '=', me)))
        .execute()
      return owned(me).where('id', '=', accountId).executeTakeFirst()
    },

    /** Releases up to `limit` accounts, newest first. The next owner increments the epoch. */
    async giveBack(me: string, limit: number): Promise<void> {
      const mine = await handle
        .selectFrom('accounts')
        .select('id')
        .where('ownerInstance', '=', me)
        .orderBy('id', 'desc')
        .limit(limit)
        .modifyEnd(dialect.skipLocked)
        .execute()
      if (mine.length === 0) return
      await handle.updateTable('accounts').set({ ownerInstance: null }).where('id', 'in', idsOf(mine)).execute()
    },

    /** Every account this instance owns, in pages. A change made meanwhile may be missing until the next full round. */
    async *mine(me: string): AsyncGenerator<OwnedAccount[]> {
      const inOrder = owned(me).orderBy('id').limit(ACCOUNTS_PER_QUERY)
      for (let after = ''; ; ) {
        const page = await inOrder.where('id', '>', after).execute()
        yield page
        if (page.length < ACCOUNTS_PER_QUERY) return
        after = page.at(-1)?.id ?? ''
      }
    },
  }
}

const idsOf = (rows: readonly { id: string }[]) => rows.map((row) => row.id)

/** The ids of the live instances, sorted. Includes a dead instance until it is removed. */
export async function livingInstances(handle: Handle): Promise<string[]> {
  return idsOf(await instancesWithLocks(handle))
}

/** The live instances, in the order of their ids. `lockKey` is null for one that held no lock at its last heartbeat. */
export function instancesWithLocks(handle: Handle): Promise<RegisteredInstance[]> {
  return handle.selectFrom('instances').select(['id', 'lockKey']).orderBy('id').execute()
}

/** Up to `limit` accounts whose owner is missing or no live instance. */
export async function unownedAccounts(handle: Handle, limit: number): Promise<string[]> {
  return idsOf(await unowned(handle).orderBy('id').limit(limit).execute())
}

/** Locks the account's row until the transaction ends. False when it has an owner, was deleted, or is locked by a former owner. */
export async function lockUnowned(tx: Tx, dialect: Dialect, accountId: string): Promise<boolean> {
  const found = await unowned(tx).where('id', '=', accountId).modifyEnd(dialect.skipLocked).execute()
  return found.length > 0
}

function unowned(handle: Handle) {
  const living = handle.selectFrom('instances').select('id')
  return handle
    .selectFrom('accounts')
    .select('id')
    .where((eb) => eb.or([eb('ownerInstance', 'is', null), eb('ownerInstance', 'not in', living)]))
}

/** The last sync totals of each live instance that has reported some. */
export async function syncTotalsOfAll(handle: Handle): Promise<Map<string, SyncTotals>> {
  const rows = await handle.selectFrom('instances').select(['id', 'syncTotals']).execute()
  return new Map(rows.flatMap(({ id, syncTotals }) => (syncTotals === null ? [] : [[id, JSON.parse(syncTotals)]])))
}
