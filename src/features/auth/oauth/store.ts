import type { Insertable, Selectable } from 'kysely'
import type { Handle, Tables } from '../../../infra/db/index.ts'

export type ConsentRow = Selectable<Tables['oauthFlows']>

/** Consents that are asked for at providers; the writes only inside a transaction. */
export function consentStore(handle: Handle) {
  return {
    async insert(values: Insertable<Tables['oauthFlows']>): Promise<void> {
      await handle.insertInto('oauthFlows').values(values).execute()
    },

    find: (stateHash: string): Promise<ConsentRow | undefined> =>
      handle.selectFrom('oauthFlows').selectAll().where('stateHash', '=', stateHash).executeTakeFirst(),

    /** False when it was used already; of several at once one gets it. */
    async use(stateHash: string, nowMs: number): Promise<boolean> {
      const { numUpdatedRows } = await handle
        .updateTable('oauthFlows')
        .set({ usedAt: nowMs, facts: '' })
        .where('stateHash', '=', stateHash)
        .where('usedAt', 'is', null)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    /** Deletes at most `limit` that expired before `beforeMs`; answers how many. */
    async purge(beforeMs: number, limit: number): Promise<number> {
      const old = handle.selectFrom('oauthFlows').select('stateHash').where('expiresAt', '<', beforeMs).limit(limit)
      const { numDeletedRows } = await handle.deleteFrom('oauthFlows').where('stateHash', 'in', old).executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
