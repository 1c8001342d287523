import type { Insertable, Selectable } from 'kysely'
import type { Handle, Tables } from '../../../platform/db/index.ts'

/** Consents that users were asked for. Writes belong in a transaction. */
export function consentStore(handle: Handle) {
  return {
    async insert(values: Insertable<Tables['oauthFlows']>): Promise<void> {
      await handle.insertInto('oauthFlows').values(values).execute()
    },

    find: (stateHash: string): Promise<Selectable<Tables['oauthFlows']> | undefined> =>
      handle.selectFrom('oauthFlows').selectAll().where('stateHash', '=', stateHash).executeTakeFirst(),

    /** Uses up the consent. Of several concurrent calls, one returns true. */
    async use(stateHash: string, nowMs: number): Promise<boolean> {
      const { numUpdatedRows } = await handle
        .updateTable('oauthFlows')
        .set({ usedAt: nowMs, facts: '' })
        .where('stateHash', '=', stateHash)
        .where('usedAt', 'is', null)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    /** Deletes up to `limit` consents that expired before `beforeMs`. Returns how many it deleted. */
    async purge(beforeMs: number, limit: number): Promise<number> {
      const expired = handle.selectFrom('oauthFlows').select('stateHash').where('expiresAt', '<', beforeMs).limit(limit)
      const { numDeletedRows } = await handle
        .deleteFrom('oauthFlows')
        .where('stateHash', 'in', expired)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
