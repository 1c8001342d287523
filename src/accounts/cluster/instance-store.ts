import { sql } from 'kysely'
import { type Dialect, type Handle, padded, type Tx } from '../../platform/db/index.ts'
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
  /** Null of an older version stays null. */
  const addOwned = (me: string, count: number) =>
    handle
      .updateTable('instances')
      .set((eb) => ({ ownedAccounts: eb('ownedAccounts', '+', count) }))
      .where('id', '=', me)
      .execute()
  return {
    /** Whether an account has no owner. Does not include accounts of removed instances. */
    async hasUnowned(): Promise<boolean> {
      const accounts = handle.selectFrom('accounts').select('id').where('ownerInstance', 'is', null)
      return (await accounts.limit(1).execute()).length > 0
    },

    /** Registers the instance, or resets its heartbeat and start. */
    async register(id: string, lockKey: string | null): Promise<void> {
      // Under its id it may still own accounts, when it was declared dead a moment ago.
      const ownedAccounts = handle
        .selectFrom('accounts')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('ownerInstance', '=', id)
      const life = { heartbeatAt: dialect.nowMs, startedAt: dialect.nowMs, lockKey, ownedAccounts }
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

    async instances(): Promise<RegisteredInstance[]> {
      return await handle
        .selectFrom('instances')
        .select(['id', 'lockKey', 'ownedAccounts'])
        .select(sql<number>`${dialect.nowMs} - "heartbeatAt"`.as('silentMs'))
        .orderBy('id')
        .execute()
    },

    async countOwned(ids: readonly string[]): Promise<Map<string, number>> {
      const rows = await handle
        .selectFrom('accounts')
        .select(['ownerInstance', (eb) => eb.fn.countAll<number>().as('count')])
        .where('ownerInstance', 'in', padded(ids))
        .groupBy('ownerInstance')
        .execute()
      const counts = new Map(rows.map(({ ownerInstance, count }) => [ownerInstance, count]))
      return new Map(ids.map((id) => [id, counts.get(id) ?? 0]))
    },

    /** One statement, whose parts see the same moment. */
    async shares(limit: number): Promise<{ owned: Map<string, number | null>; free: number }> {
      const { rows } = await sql<{ id: string; ownedAccounts: number | null; free: number }>`
        ${OWNERS}
        select "id", "ownedAccounts",
          (select count(*) from (select 1 from "accounts" where "ownerInstance" is null limit ${sql.lit(limit)}) as "free")
          + (select coalesce(sum((select count(*) from "accounts" where "ownerInstance" = "owners"."id")), 0)
            from "owners" where ${IS_REMOVED}) as "free"
        from "instances"`.execute(handle)
      const owned = new Map(rows.map(({ id, ownedAccounts }) => [id, ownedAccounts]))
      return { owned, free: Math.min(limit, rows[0]?.free ?? 0) }
    },

    /**
     * Takes up to `limit` free accounts, each under its next epoch, and returns how many. Skips rows that a
     * transaction has locked; the next round, which follows at once, takes them.
     */
    async take(me: string, limit: number): Promise<number> {
      const free = await freeAccounts(handle, limit, dialect)
      if (free.length === 0) return 0
      await handle
        .updateTable('accounts')
        .set((eb) => ({ ownerInstance: me, epoch: eb('epoch', '+', 1) }))
        .where('id', 'in', free)
        .execute()
      await addOwned(me, free.length)
      return free.length
    },

    /**
     * Takes the account, under its next epoch, if it is free. Returns it if this instance owns it now; undefined if another one does,
     * or if this one is not registered.
     */
    async claim(me: string, accountId: string): Promise<OwnedAccount | undefined> {
      const { numUpdatedRows } = await handle
        .updateTable('accounts')
        .set((eb) => ({ ownerInstance: me, epoch: eb('epoch', '+', 1) }))
        .where('id', '=', accountId)
        .where((eb) => eb.or([eb('ownerInstance', 'is', null), eb('ownerInstance', 'not in', living())]))
        .where((eb) => eb.exists(living().where('id', '=', me)))
        .executeTakeFirst()
      if (numUpdatedRows > 0n) await addOwned(me, 1)
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
      await addOwned(me, -mine.length)
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

    async findMine(me: string, accountIds: readonly string[]): Promise<OwnedAccount[]> {
      return accountIds.length === 0 ? [] : await owned(me).where('id', 'in', padded(accountIds)).execute()
    },
  }
}

const idsOf = (rows: readonly { id: string }[]) => rows.map((row) => row.id)

/** The ids of the live instances, sorted. Includes a dead instance until it is removed. */
export async function livingInstances(handle: Handle): Promise<string[]> {
  return idsOf(await handle.selectFrom('instances').select('id').orderBy('id').execute())
}

/** Up to `limit` accounts whose owner is missing or no live instance. */
export function unownedAccounts(handle: Handle, limit: number): Promise<string[]> {
  return freeAccounts(handle, limit)
}

/** Locks the account's row until the transaction ends. False when it has an owner, was deleted, or is locked by a former owner. */
export async function lockUnowned(tx: Tx, dialect: Dialect, accountId: string): Promise<boolean> {
  const living = tx.selectFrom('instances').select('id')
  const unowned = tx
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', accountId)
    .where((eb) => eb.or([eb('ownerInstance', 'is', null), eb('ownerInstance', 'not in', living)]))
  return (await unowned.modifyEnd(dialect.skipLocked).execute()).length > 0
}

/** Reads ranges of the index by owner. With a dialect, locks the accounts and skips those that are locked. */
async function freeAccounts(handle: Handle, limit: number, locking?: Dialect): Promise<string[]> {
  const found: string[] = []
  const accounts = handle.selectFrom('accounts').select('id').orderBy('ownerInstance').orderBy('id')
  const add = async (query: typeof accounts) => {
    const limited = query.limit(limit - found.length)
    found.push(...idsOf(await (locking === undefined ? limited : limited.modifyEnd(locking.skipLocked)).execute()))
  }
  await add(accounts.where('ownerInstance', 'is', null))
  const removed = found.length < limit ? await removedOwners(handle) : []
  for (const owner of removed) {
    if (found.length === limit) break
    // It may have registered again.
    const living = handle.selectFrom('instances').select('id').where('id', '=', owner)
    await add(accounts.where('ownerInstance', '=', owner).where((eb) => eb.not(eb.exists(living))))
  }
  return found
}

/** The owners of accounts that are not registered. */
async function removedOwners(handle: Handle): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`${OWNERS} select "id" from "owners" where ${IS_REMOVED}`.execute(handle)
  return idsOf(rows)
}

/** Looks up each owner once in the index, because reading all accounts would take seconds. The last row is null. */
const OWNERS = sql`
  with recursive "owners" ("id") as (
    select min("ownerInstance") from "accounts"
    union all
    select (select min("ownerInstance") from "accounts" where "ownerInstance" > "owners"."id")
    from "owners" where "owners"."id" is not null)`

const IS_REMOVED = sql`"owners"."id" is not null and "owners"."id" not in (select "id" from "instances")`

/** The last sync totals of each live instance that has reported some. */
export async function syncTotalsOfAll(handle: Handle): Promise<Map<string, SyncTotals>> {
  const rows = await handle.selectFrom('instances').select(['id', 'syncTotals']).execute()
  return new Map(rows.flatMap(({ id, syncTotals }) => (syncTotals === null ? [] : [[id, JSON.parse(syncTotals)]])))
}
