import { sql } from 'kysely'
import { compiledOnce, type Handle } from '../../platform/db/index.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import type { AccountRow } from './store.ts'

const anyErasure = compiledOnce((handle) => handle.selectFrom('accountErasures').select('accountId').limit(1))
/** Reads of accounts for other features, beside `Accounts`. */
export function accountQueries(handle: Handle) {
  return {
    /** The accounts among these whose erasure is not complete. No further events about them may be sent. */
    async beingErased(ids: readonly string[]): Promise<Set<string>> {
      if (ids.length === 0) return new Set()
      // The table is nearly always empty, and this query, unlike the next, has one text for any number of ids.
      if ((await anyErasure(handle)).length === 0) return new Set()
      const rows = await handle
        .selectFrom('accountErasures')
        .select('accountId')
        .where('accountId', 'in', ids)
        .execute()
      return new Set(rows.map((row) => row.accountId))
    },

    /** Which of these are ids of accounts. */
    async existing(ids: readonly string[]): Promise<Set<string>> {
      if (ids.length === 0) return new Set()
      const rows = await handle.selectFrom('accounts').select('id').where('id', 'in', ids).execute()
      return new Set(rows.map((row) => row.id))
    },

    /** How many accounts there are, all of which a licence counts. */
    async count(): Promise<number> {
      const { count } = await handle
        .selectFrom('accounts')
        .select(sql<number | string>`count(*)`.as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    /** How many accounts cannot be synced, except paused ones and those whose credentials were refused. One lookup in an index. */
    async countStalled(): Promise<number> {
      const { count } = await handle
        .selectFrom('accounts')
        .select(sql<number | string>`count(*)`.as('count'))
        .where('trouble', '=', 'error')
        .where('paused', '=', 0)
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    /**
     * Whether a sign-in with these hints may concern an existing account. A customUserId decides alone, because it is part of
     * every account's identity; else the address does. True without either, as nothing is known.
     */
    async mayBeLinked(hints: {
      provider: ProviderName | null
      customUserId: string | null
      email: string | null
    }): Promise<boolean> {
      const { provider, customUserId, email } = hints
      if (customUserId === null && email === null) return true
      const row = await handle
        .selectFrom('accounts')
        .select('id')
        .$if(provider !== null, (query) => query.where('provider', '=', provider))
        .where(customUserId !== null ? 'customUserId' : sql`lower("email")`, '=', customUserId ?? email?.toLowerCase())
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },

    /** The accounts with one of these addresses, whatever their case, in order of their ids. */
    async withAddresses(addresses: readonly string[]): Promise<Pick<AccountRow, 'id' | 'email' | 'provider'>[]> {
      if (addresses.length === 0) return []
      return handle
        .selectFrom('accounts')
        .select(['id', 'email', 'provider'])
        .where(
          sql`lower("email")`,
          'in',
          addresses.map((address) => address.toLowerCase()),
        )
        .orderBy('id')
        .execute()
    },

    /** The ids of a provider's accounts with one of these addresses. */
    async at(provider: ProviderName, addresses: readonly string[]): Promise<string[]> {
      const rows = await this.withAddresses(addresses)
      return rows.flatMap((row) => (row.provider === provider ? row.id : []))
    },

    /** The accounts of this instance with an outstanding request, and its time. One lookup in an index of requests only. */
    async requestedSyncs(instanceId: string): Promise<Map<string, number>> {
      const rows = await handle
        .selectFrom('accounts')
        .select(['id', 'syncRequestedAt'])
        .where('ownerInstance', '=', instanceId)
        .where('syncRequestedAt', 'is not', null)
        .execute()
      return new Map(rows.map(({ id, syncRequestedAt }) => [id, syncRequestedAt ?? 0]))
    },

    /** The next accounts after this id that can be synced: neither paused nor in auth_error. */
    async syncable(after: string, limit: number): Promise<string[]> {
      const rows = await handle
        .selectFrom('accounts')
        .select('id')
        .where('id', '>', after)
        .where('paused', '=', 0)
        .where('status', '<>', 'auth_error')
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(({ id }) => id)
    },
  }
}
