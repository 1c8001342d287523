import { sql } from 'kysely'
import type { Dialect, Handle } from '../../../infra/db/index.ts'
import type { RunTotals } from '../scheduler/owned-scheduler.ts'

/** An account this instance owns, and everything about it that a session depends on. */
export interface OwnedAccount {
  id: string
  epoch: number
  paused: number
  watch: number
  accessVersion: number
  mailHost: string
}

/**
 * Rows of `instances`, and the owner and epoch of `accounts`. Times are the database's own: the clocks of the machines
 * never meet. An account whose owner has no row here is free. Writes only inside a transaction.
 */
export function instanceStore(handle: Handle, dialect: Dialect) {
  const living = () => handle.selectFrom('instances').select('id')
  return {
    /** Does an account have no owner? Accounts of instances without a row are not counted. */
    async hasUnowned(): Promise<boolean> {
      const accounts = handle.selectFrom('accounts').select('id').where('ownerInstance', 'is', null)
      return (await accounts.limit(1).execute()).length > 0
    },

    /** Registers the instance, or begins its life anew. */
    async register(id: string): Promise<void> {
      const life = { heartbeatAt: dialect.nowMs, startedAt: dialect.nowMs }
      await handle
        .insertInto('instances')
        .values({ id, ...life })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(life))
        .execute()
    },

    /** False when somebody has declared this instance dead. */
    async beat(id: string, syncTotals: string | null): Promise<boolean> {
      const { numUpdatedRows } = await handle
        .updateTable('instances')
        .set({ heartbeatAt: dialect.nowMs, syncTotals })
        .where('id', '=', id)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    /** Declares dead whoever was silent for `silentMs`, or everybody else; answers who. */
    async bury(me: string, silentMs: number | 'whatever'): Promise<string[]> {
      const others = handle.deleteFrom('instances').where('id', '!=', me)
      const dead =
        silentMs === 'whatever'
          ? others
          : others.where('heartbeatAt', '<', sql<number>`${dialect.nowMs} - ${sql.lit(silentMs)}`)
      const rows = await dead.returning('id').execute()
      return rows.map((row) => row.id)
    },

    async unregister(id: string): Promise<void> {
      await handle.deleteFrom('instances').where('id', '=', id).execute()
    },

    /** How many accounts each living instance owns, those without one included, and how many are free. */
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
     * Takes up to `limit` free accounts, each under its next epoch; answers how many. A row that a transaction of the former
     * owner still holds is left for the next round: waiting for it would keep all the others waiting too.
     */
    async take(me: string, limit: number): Promise<number> {
      const free = await handle
        .selectFrom('accounts')
        .select('id')
        .where((eb) => eb.or([eb('ownerInstance', 'is', null), eb('ownerInstance', 'not in', living())]))
        .orderBy('id')
        .limit(limit)
        .modifyEnd(dialect.skipLocked)
        .execute()
      if (free.length > 0) {
        await handle
          .updateTable('accounts')
          .set((eb) => ({ ownerInstance: me, epoch: eb('epoch', '+', 1) }))
          .where('id', 'in', idsOf(free))
          .execute()
      }
      return free.length
    },

    /** Gives back up to `limit` accounts, newest first. The epoch stays: the next owner counts it on. */
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

    /** Every account this instance owns. */
    mine: (me: string): Promise<OwnedAccount[]> =>
      handle
        .selectFrom('accounts')
        .select(['id', 'epoch', 'paused', 'watch', 'accessVersion', 'mailHost'])
        .where('ownerInstance', '=', me)
        .execute(),
  }
}

const idsOf = (rows: readonly { id: string }[]) => rows.map((row) => row.id)

/** The instances that live now, in the order of their ids; a dead one is among them until it is buried. */
export async function livingInstances(handle: Handle): Promise<string[]> {
  return idsOf(await handle.selectFrom('instances').select('id').orderBy('id').execute())
}

/** What each living instance last reported about its sync scheduler; an instance that has not reported yet is left out. */
export async function syncTotalsOfAll(handle: Handle): Promise<Map<string, RunTotals>> {
  const rows = await handle.selectFrom('instances').select(['id', 'syncTotals']).execute()
  return new Map(rows.flatMap(({ id, syncTotals }) => (syncTotals === null ? [] : [[id, JSON.parse(syncTotals)]])))
}
